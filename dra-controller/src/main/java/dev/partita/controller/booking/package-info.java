/** What claims hold of cards: an account of each card, and the books of all of them. */
@NullMarked
package dev.partita.controller.booking;

import org.jspecify.annotations.NullMarked;
