/** The allocator: a pure function from inventory, bookings and a pod's claims to an allocation or reasons. */
@NullMarked
package dev.partita.controller.allocate;

import org.jspecify.annotations.NullMarked;
