/** The files of a share on the host: hook libraries, quota file, usage region. */
@NullMarked
package dev.partita.plugin.share;

import org.jspecify.annotations.NullMarked;
