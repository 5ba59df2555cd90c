/** What Prometheus is told of the node's cards, of what is allocated of them, and of who uses it. */
@NullMarked
package dev.partita.plugin.metrics;

import org.jspecify.annotations.NullMarked;
