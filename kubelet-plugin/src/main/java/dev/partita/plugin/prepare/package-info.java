/** Decides about claims: prepares them, releases them, and writes anew what their containers have. */
@NullMarked
package dev.partita.plugin.prepare;

import org.jspecify.annotations.NullMarked;
