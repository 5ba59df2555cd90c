/** Decides what is done to processes that hold more memory than their share has, and does it. */
@NullMarked
package dev.partita.plugin.usage.excess;

import org.jspecify.annotations.NullMarked;
