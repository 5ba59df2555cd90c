/** Reads and checks what a claim's allocation gives of this node's cards. Pure functions. */
@NullMarked
package dev.partita.plugin.allocation;

import org.jspecify.annotations.NullMarked;
