/** Judges what was seen: whether a share keeps to what its claim has, and what is done if not. */
@NullMarked
package dev.partita.plugin.usage.verdict;

import org.jspecify.annotations.NullMarked;
