/** Retry and circuit breaker around calls to the API server. */
@NullMarked
package dev.partita.controller.edge;

import org.jspecify.annotations.NullMarked;
