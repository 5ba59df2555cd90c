/**
 * Plays cluster streams against the allocator: nodes, and pods that arrive there and leave, to see how full the cards
 * get and who waits.
 */
@NullMarked
package dev.partita.controller.stream;

import org.jspecify.annotations.NullMarked;
