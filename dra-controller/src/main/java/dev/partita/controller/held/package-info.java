/** What nodes hold although no claim says so: as bookings, and in the books beside those of claims. */
@NullMarked
package dev.partita.controller.held;

import org.jspecify.annotations.NullMarked;
