/** {@code partita top}: what nodes, cards and claims have and use now. */
@NullMarked
package dev.partita.cli.top;

import org.jspecify.annotations.NullMarked;
