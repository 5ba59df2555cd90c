/** Reads claims, and what their preparation is decided by: their pods, their allocation, this node's cards. */
@NullMarked
package dev.partita.plugin.claimread;

import org.jspecify.annotations.NullMarked;
