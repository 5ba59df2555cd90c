/** What Prometheus is told of the cluster: who waits, what is decided, what quotas have left. */
@NullMarked
package dev.partita.controller.metrics;

import org.jspecify.annotations.NullMarked;
