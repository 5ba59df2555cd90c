/** Puts sizes into force that shares are granted while containers use them. */
@NullMarked
package dev.partita.plugin.resize;

import org.jspecify.annotations.NullMarked;
