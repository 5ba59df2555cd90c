package dev.partita.controller.schedule;

import dev.partita.controller.gang.GangKey;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.budget.OverBudgetException;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.nodes.Load;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.nodes.NodeLoads;
import dev.partita.controller.turns.FairQueue;
import dev.partita.controller.turns.Fatal;
import dev.partita.controller.turns.Rank;
import dev.partita.controller.turns.SearchSlots;
import dev.partita.controller.turns.SetAside;
import dev.partita.controller.turns.Turn;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives pods their turns to be decided about, fairly to their namespaces, and sees to it that no decision takes long. A
 * decision that fails, or takes too long, sets aside its pod, or its gang, and nobody else. For one thread.
 */
public final class PodQueue {
  private static final Logger LOG = LoggerFactory.getLogger(PodQueue.class);

  /**
   * How long a decision may take at first; twice as long after every one in a row that took longer, up to
   * {@link #LONGEST}.
   */
  private static final Duration BUDGET = Duration.ofMillis(50);

  private static final Duration LONGEST = Duration.ofMillis(200);

  /** The same for one that was set aside because that was not enough, in a slot of its own. */
  private static final Duration LONGEST_OF_ALL = Duration.ofSeconds(1);

  /**
   * How often in a row a decision may take too long before its pod is set aside. What one try has found out is kept for
   * the next, so that most decisions come to their end; and a process that has just been started takes seconds for what
   * later takes it microseconds.
   */
  private static final int TRIES = 4;

  /** A gang may take so much for each of its pods then, if that is more. */
  private static final Duration OF_ONE_IN_A_GANG = Duration.ofMillis(1);

  /**
   * A decision that took long and came to nothing is made again after so many times as long, so that it takes no more
   * than that part of the time.
   */
  private static final int PART_OF_THE_TIME = 20;

  /**
   * How much less of the time is for what takes longer than {@link #LONGEST_OF_ALL}: otherwise more than one in a
   * hundred would have to wait for it.
   */
  private static final int SMALL_PART = 5;

  private static final Duration LONG = Duration.ofMillis(100);

  /**
   * How many pods are checked one by one for whether a node has room for them now; if there are more, all are decided
   * about.
   */
  private static final int MOST_LOOKS = 2_000;

  private final ClusterObjects view;
  private final NodeLoads loads;
  private final PodScheduler scheduler;
  private final GangScheduler gangs;
  private final Retries retries;
  private final DecisionBudget budget;
  private final LongSupplier processorTime;
  private final FairQueue<Turn> queue = new FairQueue<>(System::nanoTime);
  private final SetAside<String> aside;
  private final SearchSlots slots;
  private final Map<String, Load> roomBefore = new HashMap<>();
  private boolean mayHelpAll;
  private volatile int waiting; // for threads that only want to know

  /**
   * @param processorTime of this thread, in ns
   * @param firstPause after a decision that fails
   */
  public PodQueue(
      ClusterObjects view,
      NodeLoads loads,
      PodScheduler scheduler,
      GangScheduler gangs,
      Retries retries,
      DecisionBudget budget,
      LongSupplier processorTime,
      Clock monotonicClock,
      Duration firstPause) {
    this.aside = new SetAside<>(firstPause);
    this.slots = new SearchSlots(monotonicClock, PART_OF_THE_TIME);
    this.view = view;
    this.loads = loads;
    this.scheduler = scheduler;
    this.gangs = gangs;
    this.retries = retries;
    this.budget = budget;
    this.processorTime = processorTime;
  }

  /** Something changed that could help any pod that waits. */
  public void helps() {
    mayHelpAll = true;
  }

  /**
   * What pods request on the node has changed: those that it has room for now, and had not before, may get their place.
   *
   * @param before what they requested
   */
  public void roomChanged(String node, Load before) {
    roomBefore.putIfAbsent(node, before);
  }

  /** Has these pods decided when it is their turn; those that are being written for, or are set aside, are left out. */
  public void want(Collection<ObjectKey> pods) {
    for (ObjectKey key : pods) {
      if (queue.contains(new Turn.OfPod(key))) {
        continue;
      }
      try {
        @Nullable Pod pod = view.pod(key);
        if (pod != null && PodClaims.isLive(pod) && !scheduler.isWriting(key)) {
          want(pod);
        }
      } catch (RuntimeException | Error e) {
        Fatal.rethrow(e);
        LOG.error("pod {}: looking at it failed", key, e);
      }
    }
  }

  private void want(Pod pod) {
    ObjectKey key = ObjectKey.of(pod);
    Turn turn = view.gangOf(pod).<Turn>map(Turn.OfGang::new).orElseGet(() -> new Turn.OfPod(key));
    if (!aside.holds(id(turn, pod))) {
      String created = Objects.requireNonNullElse(pod.getMetadata().getCreationTimestamp(), "");
      queue.add(turn, key.namespace(), new Rank(PodOrder.priority(pod), created, key.toString()));
    }
  }

  /** The key under which it is set aside: a pod that is made anew under the same name is another one. */
  private static String id(Turn turn, Pod pod) {
    return switch (turn) {
      case Turn.OfPod _ -> pod.getMetadata().getUid();
      case Turn.OfGang(GangKey gang) -> id(gang);
    };
  }

  private static String id(GangKey gang) {
    return "gang " + gang;
  }

  /** What was set aside may be decided. */
  public void asideOver(Turn turn, String id) {
    aside.over(id);
    want(podsOf(turn).stream().map(ObjectKey::of).limit(1).toList());
  }

  private List<Pod> podsOf(Turn turn) {
    return switch (turn) {
      case Turn.OfPod(ObjectKey key) -> Optional.ofNullable(view.pod(key)).stream().toList();
      case Turn.OfGang(GangKey gang) ->
          view.podsOfGang(gang).stream().filter(PodClaims::isLive).sorted(PodOrder.MOST_URGENT_FIRST).toList();
    };
  }

  /**
   * Decides in turn, for so long.
   *
   * @return whether more is to be decided
   */
  public boolean go(Duration most) {
    try {
      return decide(most);
    } finally {
      waiting = queue.size();
    }
  }

  /** How many pods and gangs waited for their turn when decisions were last made for a while. For any thread. */
  public int waiting() {
    return waiting;
  }

  private boolean decide(Duration most) {
    wake();
    long start = System.nanoTime();
    Optional<Turn> next = queue.next();
    while (next.isPresent()) {
      take(next.get());
      if (System.nanoTime() - start > most.toNanos()) {
        return !queue.isEmpty();
      }
      next = queue.next();
    }
    return false;
  }

  private void wake() {
    if (mayHelpAll || !roomBefore.isEmpty()) {
      scheduler.forgetWhyPodsWait();
      List<ObjectKey> waiting = scheduler.waiting();
      boolean all = mayHelpAll || roomBefore.size() * (long) waiting.size() > MOST_LOOKS;
      want(all ? waiting : waitingForRoom(waiting));
    }
    mayHelpAll = false;
    roomBefore.clear();
  }

  private Set<ObjectKey> waitingForRoom(List<ObjectKey> waiting) {
    Set<ObjectKey> pods = new LinkedHashSet<>();
    roomBefore.forEach(
        (name, before) -> {
          @Nullable Node node = view.node(name);
          for (ObjectKey key : node == null ? List.<ObjectKey>of() : waiting) {
            @Nullable Pod pod = view.pod(key);
            if (pod != null
                && node != null
                && NodeFit.refusal(pod, node, before).isPresent()
                && NodeFit.refusal(pod, node, loads.without(pod.getMetadata().getUid(), name)).isEmpty()) {
              pods.add(key);
            }
          }
        });
    return pods;
  }

  /** The pod is over or gone. */
  public void forget(String uid) {
    slots.forget(uid);
    aside.succeeded(uid);
  }

  /** The last pod of the gang is over or gone: what failed says nothing of a gang that is made anew under its name. */
  public void forget(GangKey gang) {
    forget(id(gang));
  }

  private void take(Turn turn) {
    List<Pod> pods = podsOf(turn);
    if (pods.isEmpty()
        || (turn instanceof Turn.OfPod(ObjectKey key)
            && (scheduler.isWriting(key) || !PodClaims.isLive(pods.getFirst())))) {
      return;
    }
    if (turn instanceof Turn.OfPod && view.gangOf(pods.getFirst()).isPresent()) {
      want(pods.getFirst()); // its PodGroup has come to be one since
      return;
    }
    String id = id(turn, pods.getFirst());
    boolean isLong = aside.failures(id) > TRIES;
    if (isLong && !hasSlot(turn, id)) {
      aside.rests(id);
      return;
    }
    Duration most = isLong ? longest(turn, pods.size()) : budget(aside.failures(id));
    long start = processorTime.getAsLong();
    budget.begin(most);
    boolean inVain = false;
    try {
      switch (turn) {
        case Turn.OfPod _ -> scheduler.decide(pods.getFirst());
        case Turn.OfGang(GangKey gang) -> inVain = gangs.decide(gang);
      }
      aside.succeeded(id);
    } catch (OverBudgetException e) {
      goOnLater(turn, id, pods, took(start), Objects.requireNonNull(e.getMessage()));
    } catch (RuntimeException | Error e) {
      Fatal.rethrow(e);
      LOG.error("{}: deciding about it failed", turn, e);
      if (e instanceof Error) {
        scheduler.forgetSearches(); // it may have ended in the middle of anything
      }
      setAside(turn, id, pods, took(start),
          "the controller failed (" + e.getClass().getSimpleName() + ", see its log)");
    } finally {
      budget.end();
      if (isLong) {
        Duration took = took(start);
        slots.done(id, took.compareTo(LONGEST_OF_ALL) > 0 ? took.multipliedBy(SMALL_PART) : took);
      }
      queue.used(turn.namespace(), took(start));
    }
    if (inVain && took(start).compareTo(LONG) > 0) {
      aside.rests(id);
      retries.after(took(start).multipliedBy(PART_OF_THE_TIME), new WorkItem.BackoffEnd(turn, id));
    }
  }

  /** Whether it may take long now; if not, it is decided when it may. */
  private boolean hasSlot(Turn turn, String id) {
    Optional<Duration> pause = slots.ask(id);
    pause.filter(Duration::isPositive)
        .ifPresent(later -> retries.after(later.plusMillis(1), new WorkItem.BackoffEnd(turn, id)));
    return pause.isPresent() && pause.get().isZero();
  }

  private void goOnLater(Turn turn, String id, List<Pod> pods, Duration took, String why) {
    if (aside.failures(id) < TRIES) {
      LOG.debug("{}: {}; its decision goes on at its next turn", turn, why);
      aside.goesOn(id);
      pods.stream().findFirst().ifPresent(this::want);
    } else {
      LOG.info("{}: {}", turn, why);
      setAside(turn, id, pods, took, why);
    }
  }

  private Duration took(long start) {
    return Duration.ofNanos(processorTime.getAsLong() - start);
  }

  private static Duration budget(int failures) {
    Duration doubled = BUDGET.multipliedBy(1L << Math.min(failures, TRIES));
    return Collections.min(List.of(LONGEST, doubled));
  }

  private static Duration longest(Turn turn, int pods) {
    return turn instanceof Turn.OfGang
        ? Collections.max(List.of(LONGEST_OF_ALL, OF_ONE_IN_A_GANG.multipliedBy(pods)))
        : LONGEST_OF_ALL;
  }

  /** Sets aside the pods about which a decision failed, and tells them so. */
  private void setAside(Turn turn, String id, List<Pod> pods, Duration took, String why) {
    Duration pause = Collections.max(List.of(aside.failed(id), took.multipliedBy(PART_OF_THE_TIME)));
    retries.after(pause, new WorkItem.BackoffEnd(turn, id));
    for (Pod pod : pods) {
      try {
        scheduler.setAside(pod, why);
      } catch (RuntimeException | Error e) {
        Fatal.rethrow(e);
        LOG.error("pod {}: cannot tell why it is set aside", ObjectKey.of(pod), e);
      }
    }
  }
}
