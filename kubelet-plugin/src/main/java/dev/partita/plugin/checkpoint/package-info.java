/** What has been prepared, as it survives a crash. */
@NullMarked
package dev.partita.plugin.checkpoint;

import org.jspecify.annotations.NullMarked;
