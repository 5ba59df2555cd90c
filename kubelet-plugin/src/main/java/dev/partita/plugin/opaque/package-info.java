/** Opaque cards: those that an administrator lists in files on the node, and what containers get of them. */
@NullMarked
package dev.partita.plugin.opaque;

import org.jspecify.annotations.NullMarked;
