/**
 * What would fit now: of each model the largest share, the whole cards that are free, and how scattered the rest is.
 */
@NullMarked
package dev.partita.controller.headroom;

import org.jspecify.annotations.NullMarked;
