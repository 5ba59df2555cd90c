/** Liveness and readiness over HTTP. */
@NullMarked
package dev.partita.controller.health;

import org.jspecify.annotations.NullMarked;
