/** How well the node's cards are, by what the driver says of them, and what to do about it. */
@NullMarked
package dev.partita.plugin.diagnosis;

import org.jspecify.annotations.NullMarked;
