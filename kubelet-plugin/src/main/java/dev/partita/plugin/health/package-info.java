/** Liveness and readiness over HTTP. */
@NullMarked
package dev.partita.plugin.health;

import org.jspecify.annotations.NullMarked;
