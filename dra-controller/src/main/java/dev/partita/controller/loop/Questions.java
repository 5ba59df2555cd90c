package dev.partita.controller.loop;

import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.Question;
import dev.partita.controller.headroom.Headroom;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.schedule.WorkItem;
import dev.partita.controller.state.HostReadiness;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.turns.Fatal;
import dev.partita.controller.watch.ClusterObjects;
import io.fabric8.kubernetes.api.model.Node;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers what people ask the loop about pods and claims, and what would fit; an answer that fails concerns only who
 * asked. For one thread.
 */
final class Questions {
  private static final Logger LOG = LoggerFactory.getLogger(Questions.class);

  private final ClusterObjects view;
  private final SchedulerState state;
  private final Function<Question, Answer> explanations;

  Questions(ClusterObjects view, SchedulerState state, Function<Question, Answer> explanations) {
    this.view = view;
    this.state = state;
    this.explanations = explanations;
  }

  void explain(WorkItem.ExplanationRequest asked) {
    if (asked.answer().isDone()) {
      return; // whoever asked does not wait for it any more
    }
    try {
      asked.answer().complete(explanations.apply(asked.question()));
    } catch (RuntimeException | Error e) {
      Fatal.rethrow(e);
      LOG.error("{}: explaining it failed", asked.question(), e);
      asked.answer().completeExceptionally(e);
    }
  }

  void measure(CompletableFuture<SortedMap<String, Headroom>> headroom) {
    if (headroom.isDone()) {
      return;
    }
    try {
      headroom.complete(Headroom.byModel(state.inventory().hosts().values(), state.claims()::account,
          this::isOpen));
    } catch (RuntimeException | Error e) {
      Fatal.rethrow(e);
      LOG.error("measuring what would fit failed", e);
      headroom.completeExceptionally(e);
    }
  }

  private boolean isOpen(GpuHost host) {
    @Nullable Node node = view.node(host.name());
    boolean cordoned = node != null && node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
    return !cordoned && HostReadiness.refusal(host, view).isEmpty();
  }
}
