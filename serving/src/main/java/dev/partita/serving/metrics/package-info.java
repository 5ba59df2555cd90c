/** Metrics for Prometheus: the endpoint, who may read it, and what collects them. */
@NullMarked
package dev.partita.serving.metrics;

import org.jspecify.annotations.NullMarked;
