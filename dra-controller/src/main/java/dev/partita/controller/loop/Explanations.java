package dev.partita.controller.loop;

import dev.partita.controller.gang.GangKey;
import dev.partita.controller.gang.Gang;
import dev.partita.api.DeviceName;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.budget.OverBudgetException;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.decide.WhyWaiting;
import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.PodExplanation.NodeReason;
import dev.partita.controller.explain.PodExplanation.State;
import dev.partita.controller.explain.PodExplanation;
import dev.partita.controller.explain.Question;
import dev.partita.controller.reasons.Explanation;
import dev.partita.controller.reasons.NodeRefusal;
import dev.partita.controller.schedule.ClaimNotes;
import dev.partita.controller.schedule.PodScheduler;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Explains in full how pods stand, by deciding about them without carrying it out. For one thread. */
final class Explanations {
  private static final int SUMMARY = 2_000;

  /** What explaining one pod may take of the thread's time: all that wait for a place wait for it. */
  private static final Duration LONGEST = Duration.ofMillis(500);

  /** When so much time has passed, no further pod of a claim is explained. */
  private static final Duration OF_A_CLAIM = Duration.ofSeconds(1);

  private static final int MOST_OF_A_CLAIM = 20;

  private final ClusterObjects view;
  private final PodScheduler scheduler;
  private final PodDecisions decisions;
  private final DecisionBudget budget;

  Explanations(ClusterObjects view, PodScheduler scheduler, PodDecisions decisions, DecisionBudget budget) {
    this.view = view;
    this.scheduler = scheduler;
    this.decisions = decisions;
    this.budget = budget;
  }

  Answer answer(Question question) {
    ObjectKey key = new ObjectKey(question.namespace(), question.name());
    return switch (question.kind()) {
      case POD -> {
        @Nullable Pod pod = view.pod(key);
        yield pod == null ? new Answer.Unknown() : new Answer.Explained(List.of(explain(pod)));
      }
      case CLAIM -> view.claim(key) == null ? new Answer.Unknown() : new Answer.Explained(explainPodsOf(key));
    };
  }

  /** The most urgent first; one entry stands for all that there is no time for. */
  private List<PodExplanation> explainPodsOf(ObjectKey claim) {
    List<Pod> pods = view.podsOf(claim).stream().sorted(PodOrder.MOST_URGENT_FIRST).toList();
    List<PodExplanation> explained = new ArrayList<>();
    long start = System.nanoTime();
    for (Pod pod : pods) {
      if (explained.size() == MOST_OF_A_CLAIM || System.nanoTime() - start > OF_A_CLAIM.toNanos()) {
        explained.add(said(pod, State.LeftOut, leftOut(claim, pods.size() - explained.size())));
        break;
      }
      explained.add(explain(pod));
    }
    return explained;
  }

  private static String leftOut(ObjectKey claim, int pods) {
    return (pods == 1 ? "it is" : "it and " + (pods - 1) + " more of the pods that use claim " + claim + " are")
        + " not explained, for that takes time in which no pod gets its place; ask for a pod by its name";
  }

  private PodExplanation explain(Pod pod) {
    if (!PodClaims.isLive(pod)) {
      return said(pod, State.Over, "it is over or being deleted");
    }
    if (scheduler.isWriting(ObjectKey.of(pod))) {
      return said(pod, State.Placed, "what was decided for it is being written");
    }
    Optional<String> gang = view.gangOf(pod).flatMap(this::missing);
    budget.begin(LONGEST);
    try {
      return explain(pod, decisions.of(pod), gang);
    } catch (OverBudgetException e) {
      return said(pod, State.Waiting, gang.map(why -> why + "; ").orElse("") + "could not be decided: " + e.getMessage()
          + "; ask again, for some of what was found out is kept, or have its claims ask for less: fewer requests,"
          + " constraints and selectors");
    } finally {
      budget.end();
    }
  }

  private static PodExplanation explain(Pod pod, Decision decision, Optional<String> gang) {
    return switch (decision) {
      case Decision.Nothing _ ->
          PodClaims.of(pod).isEmpty()
              ? said(pod, State.ClaimMissing, "its claims have not been made from their templates yet")
              : said(pod, State.Placed, "what was decided for it is being written");
      case Decision.ClaimMissing _ ->
          said(pod, State.ClaimMissing,
              gang.map(why -> why + "; ").orElse("") + "a claim that it names does not exist, or is being deleted");
      case Decision.HeldBack(List<String> gates, var _) ->
          said(pod, State.Waiting, "it gets no cards before others have taken off its scheduling gates: "
              + String.join(", ", gates));
      case Decision.LeaveToScheduler _ ->
          said(pod, State.LeftToScheduler, "kube-scheduler allocates on every node that it could run on");
      case Decision.Settled(Optional<String> node) ->
          said(pod, State.Settled,
              "nothing of it is left to allocate" + node.map(name -> "; it is to run on " + name).orElse(""));
      case Decision.Refuse(var problems, var _) -> said(pod, State.Refused, ClaimNotes.words(problems));
      case Decision.Allocate(PodPlan plan) ->
          gang.map(why -> said(pod, State.Waiting, why))
              .orElseGet(() -> said(pod, State.Placed, "there is a place for it on " + plan.outcome().node()));
      case Decision.Wait wait ->
          new PodExplanation(
              pod.getMetadata().getNamespace(),
              pod.getMetadata().getName(),
              State.Waiting,
              gang.map(why -> why + "; ").orElse("") + wait.why().summary(SUMMARY) + "; "
                  + wait.newNode().get().words(),
              switch (wait.why()) {
                case WhyWaiting.Explained(Explanation explanation) ->
                    explanation.nodes().stream().map(Explanations::reason).toList();
                case WhyWaiting.KnownOfAlike _,WhyWaiting.NoRoomBesideClaims _ -> List.of();
              });
    };
  }

  /** Why the pod's gang is not looked at yet. */
  private Optional<String> missing(GangKey gang) {
    List<Pod> there = view.podsOfGang(gang).stream().filter(Gang::isThere).toList();
    return Gang.state(gang, there, view) instanceof Gang.State.Waits(String why) ? Optional.of(why) : Optional.empty();
  }

  private static PodExplanation said(Pod pod, State state, String summary) {
    return new PodExplanation(pod.getMetadata().getNamespace(), pod.getMetadata().getName(), state, summary, List.of());
  }

  private static NodeReason reason(NodeRefusal refusal) {
    SortedMap<String, String> byCard = new TreeMap<>();
    String why =
        switch (refusal) {
          case NodeRefusal.PodUnfit unfit -> unfit.why();
          case NodeRefusal.NotTogether together -> together.why();
          case NodeRefusal.CardsUnfit unfit -> {
            unfit.refusals()
                .forEach((card, reason) -> byCard.put(new DeviceName.Whole(card).toString(), reason.toString()));
            yield "claim " + unfit.claim().name() + ", request " + unfit.request() + ": " + unfit.fitting() + " of "
                + unfit.cards()
                + (unfit.cards() == 1 ? " card fits, " : " cards fit, ") + unfit.wanted() + " wanted"
                + (unfit.devices() == unfit.fitting() ? "" : ", " + unfit.devices() + " to be had at once");
          }
        };
    return new NodeReason(refusal.node(), refusal.cards(), why, byCard);
  }
}
