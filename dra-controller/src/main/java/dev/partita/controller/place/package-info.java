/** Choosing the cards of one node for all the claims of a pod, and the order of preference between placements. */
@NullMarked
package dev.partita.controller.place;

import org.jspecify.annotations.NullMarked;
