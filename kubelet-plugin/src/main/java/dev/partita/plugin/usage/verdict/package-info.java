/** Judges what was seen: whether a share keeps to what its claim has. */
@NullMarked
package dev.partita.plugin.usage.verdict;

import org.jspecify.annotations.NullMarked;
