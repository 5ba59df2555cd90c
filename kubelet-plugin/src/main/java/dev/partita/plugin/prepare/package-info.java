/** Makes claims ready for containers: decisions as pure functions, and the shell that carries them out. */
@NullMarked
package dev.partita.plugin.prepare;

import org.jspecify.annotations.NullMarked;
