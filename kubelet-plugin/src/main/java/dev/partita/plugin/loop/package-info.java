/** Runs what the plugin does again and again, and notices when one of these loops stands still. */
@NullMarked
package dev.partita.plugin.loop;

import org.jspecify.annotations.NullMarked;
