/** What a claim's allocation gives this node's cards for, read and checked. Pure functions. */
@NullMarked
package dev.partita.plugin.allocation;

import org.jspecify.annotations.NullMarked;
