/** {@code partita simulate fits, add-nodes and shrink}: questions about a cluster as it is, or as it was saved. */
@NullMarked
package dev.partita.cli.whatif;

import org.jspecify.annotations.NullMarked;
