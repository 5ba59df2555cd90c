/** The node plugin: its start, its settings, its program. */
@NullMarked
package dev.partita.plugin;

import org.jspecify.annotations.NullMarked;
