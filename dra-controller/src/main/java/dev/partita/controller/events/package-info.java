/** Events on claims. */
@NullMarked
package dev.partita.controller.events;

import org.jspecify.annotations.NullMarked;
