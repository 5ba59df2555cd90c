package dev.partita.plugin.metrics;

import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Samples;
import java.util.List;

/** Names and labels for what a node tells: our own, or those that dashboards of others use. */
interface Dialect {
  /** Every family that it may write. */
  List<Family> families();

  /** Writes the node's samples. */
  void write(NodeSnapshot node, Samples into);
}
