package dev.partita.controller.commit;

import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.turns.TasksByTurns;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what was decided for pods, several decisions at a time and namespaces by turns, and reports how it went.
 */
public final class PodWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PodWriter.class);

  /** Each waits for the API server most of the time. */
  private static final int AT_ONCE = 16;

  /**
   * Fewer, and fewer still while allocations wait to be written: in a rush the API server is there for the claims that
   * wait first, and kube-scheduler, which looks at opened pods one after the other and makes 50 requests a second
   * unless told otherwise, has enough to do with these.
   */
  private static final int GATES_AT_ONCE = 4;
  private static final int GATES_IN_A_RUSH = 2;

  private final AllocationWriter writer;
  private final GateRemover gate;
  private final ClusterView view;
  private final Clock clock;
  private final Predicate<ResourceClaim> spent;
  private final WriteListener listener;
  private final TasksByTurns writes = new TasksByTurns("allocation-writer", () -> AT_ONCE);
  private final TasksByTurns openings =
      new TasksByTurns("gate-opener", () -> writes.waiting() == 0 ? GATES_AT_ONCE : GATES_IN_A_RUSH);

  public PodWriter(
      AllocationWriter writer,
      GateRemover gate,
      ClusterView view,
      Clock clock,
      Predicate<ResourceClaim> spent,
      WriteListener listener) {
    this.writer = writer;
    this.gate = gate;
    this.view = view;
    this.clock = clock;
    this.spent = spent;
    this.listener = listener;
  }

  /** Begins to write what these pods are to get, all or nothing as far as that can be had. */
  public void write(List<PodPlan> plans) {
    inTurn(
        writes,
        plans.stream().map(plan -> plan.pod().getMetadata().getNamespace()).findFirst(),
        () -> {
          AllocationTransaction transaction = new AllocationTransaction(writer, view, clock, listener, spent, plans);
          boolean done = false;
          try {
            done = transaction.run();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          } catch (RuntimeException e) {
            LOG.error("pods {}: cannot write their allocations",
                plans.stream().map(plan -> ObjectKey.of(plan.pod())).toList(), e);
          }
          for (PodPlan plan : plans) {
            for (ClaimPlacement placement : plan.outcome().claims()) {
              listener.written(placement.claim(), transaction.version(placement.claim()));
            }
          }
          for (PodPlan plan : plans) {
            if (done && AllocationGate.isOn(plan.pod())) {
              open(plan.pod());
            } else {
              listener.finished(ObjectKey.of(plan.pod()), !done);
            }
          }
        });
  }

  /** How many decisions wait for a thread that writes. For any thread. */
  public int waiting() {
    return writes.waiting();
  }

  /** How many pods wait for their gate to be taken off. For any thread. */
  public int gatesWaiting() {
    return openings.waiting();
  }

  /** Removes the pod's scheduling gate: nothing of it is left for the controller to do. */
  public void open(Pod pod) {
    openings.add(
        pod.getMetadata().getNamespace(),
        () -> {
          boolean done = false;
          try {
            done = gate.remove(pod);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          } finally {
            listener.finished(ObjectKey.of(pod), !done);
          }
        });
  }

  /** Takes back allocations that nobody has reserved, and proposals that nobody pursues. */
  public void release(List<ResourceClaim> claims, String why) {
    inTurn(
        writes,
        claims.stream().map(claim -> claim.getMetadata().getNamespace()).findFirst(),
        () -> {
          for (ResourceClaim claim : claims) {
            try {
              writer.release(claim);
              LOG.info("claim {}: took back its allocation: {}", ClaimReader.ref(claim), why);
            } catch (RuntimeException e) {
              if (ApiEdge.isNotFound(e)) {
                LOG.debug("claim {}: it is gone, and its allocation with it", ClaimReader.ref(claim));
              } else if (ApiEdge.isConflict(e)) {
                LOG.info("claim {}: it has changed in the meantime; its allocation is not taken back yet",
                    ClaimReader.ref(claim));
              } else {
                LOG.warn("claim {}: cannot take back its allocation: {}", ClaimReader.ref(claim), e.getMessage());
              }
              listener.notReleased(ObjectKey.of(claim), claim.getMetadata().getUid());
            }
          }
        });
  }

  @Override
  public void close() {
    writes.close(); // first, for who writes opens gates
    openings.close();
  }

  /** @param namespace whose task it is; empty if there is nothing to do */
  private static void inTurn(TasksByTurns tasks, Optional<String> namespace, Runnable task) {
    namespace.ifPresent(its -> tasks.add(its, task));
  }
}
