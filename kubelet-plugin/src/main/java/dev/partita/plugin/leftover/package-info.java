/** Finds and removes state that no claim needs any more. */
@NullMarked
package dev.partita.plugin.leftover;

import org.jspecify.annotations.NullMarked;
