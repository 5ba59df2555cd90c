package dev.partita.controller.schedule;

import dev.partita.controller.commit.PodWriter;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Has what was decided about pods written, and knows for which pods a write is under way, so that nothing is decided
 * about them meanwhile. For one thread.
 */
public final class PodWrites {
  private final PodWriter writer;
  private final Retries retries;
  private final Set<ObjectKey> underWay = new HashSet<>();

  public PodWrites(PodWriter writer, Retries retries) {
    this.writer = writer;
    this.retries = retries;
  }

  boolean isUnderWay(ObjectKey pod) {
    return underWay.contains(pod);
  }

  /** Has what was assumed for these pods written, together. */
  void write(List<PodPlan> plans) {
    plans.forEach(plan -> underWay.add(ObjectKey.of(plan.pod())));
    writer.write(plans);
  }

  /** Has the pod's scheduling gate taken off, unless something is being written for it: then it is decided anew. */
  void open(Pod pod) {
    if (underWay.add(ObjectKey.of(pod))) {
      writer.open(pod);
    }
  }

  /** A write for the pod has failed: it is looked at again after a pause that grows with every failure in a row. */
  void failed(ObjectKey pod) {
    underWay.remove(pod);
    retries.failed(pod);
  }

  /** The writes for the pod are over, and none of them is to be tried again. */
  void ended(ObjectKey pod) {
    underWay.remove(pod);
    retries.succeeded(pod);
  }

  /** The pod is over or gone. */
  void forget(ObjectKey pod) {
    retries.succeeded(pod);
  }
}
