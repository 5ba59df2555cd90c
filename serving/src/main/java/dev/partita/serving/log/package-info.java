/** The log of a program: what its lines look like, and how much they tell. */
@NullMarked
package dev.partita.serving.log;

import org.jspecify.annotations.NullMarked;
