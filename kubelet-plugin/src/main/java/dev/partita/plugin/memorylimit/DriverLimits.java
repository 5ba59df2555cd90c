package dev.partita.plugin.memorylimit;

import dev.partita.api.Bytes;
import dev.partita.api.gpu.Gpu;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.nvml.MemoryLimitControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.PatientCalls;
import dev.partita.plugin.store.ClaimStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the driver hold pods to the memory of their shares, on the cards that can. It stands behind the interception
 * library, which alone shows the share inside the container and shares it out among processes: where the driver sets no
 * limit, that is said, and the library's holds as before. So nothing here keeps a claim from being prepared. Where it
 * is not wanted, it lifts what was set while it was.
 */
public final class DriverLimits implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriverLimits.class);

  /** NVML answers within microseconds; the claims of other cards must not wait for a card in trouble. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration PERIOD = Duration.ofSeconds(10);
  private static final Duration ALLOWED = Duration.ofMinutes(2);

  private final boolean wanted;
  private final MemoryLimitControl driver;
  private final PatientCalls calls = new PatientCalls("memory-limits", PATIENCE);
  private final PodCgroups cgroups;
  private final ClaimStore store;
  private final Supplier<Inventory> inventory;
  private final Map<PodLimit, String> failed = new ConcurrentHashMap<>();

  /**
   * @param wanted whether pods are to be held; else the limits that they have by an earlier plugin are lifted
   * @param cgroups where the pods' cgroups are
   * @param inventory which cards there are, and whether the driver limits them
   */
  public DriverLimits(
      boolean wanted,
      MemoryLimitControl driver,
      PodCgroups cgroups,
      ClaimStore store,
      Supplier<Inventory> inventory) {
    this.wanted = wanted;
    this.driver = driver;
    this.cgroups = cgroups;
    this.store = store;
    this.inventory = inventory;
  }

  /**
   * Checks and mends the limits from now on: those of pods that use a claim which was prepared before they came, and
   * what a driver that was loaded anew has forgotten.
   *
   * @param podsAtWork UIDs of the pods whose processes use a claim's shares, by the claim's UID
   */
  public void start(Loops loops, Supplier<Map<String, Set<String>>> podsAtWork) {
    loops.makeAskingDriver("memory-limits", ALLOWED, () -> check(podsAtWork)).start();
  }

  /**
   * Sets the limits of the pods that a claim is reserved for, as it is to be prepared.
   *
   * @param claim with the sizes that its shares are to have
   */
  public void hold(PreparedClaim claim) throws IOException {
    Set<String> cards = limitedCards();
    cards.retainAll(cardsOfShares(claim));
    if (cards.isEmpty()) {
      return;
    }
    if (!wanted) {
      for (String card : cards) { // before the sizes change by which they are known
        bringAbout(card, Map.of());
      }
      return;
    }
    Set<String> own = store.pods().of(claim.claim().uid());
    List<PreparedClaim> all = new ArrayList<>(List.of(claim));
    store.checkpoint().readAll().stream().filter(other -> !other.claim().equals(claim.claim()))
        .filter(other -> hasShareOf(other, cards)).forEach(all::add);
    for (PodLimit limit : PodLimit.of(all, reserved(all), cards, written(all.subList(1, all.size())))) {
      if (own.contains(limit.podUid()) && !set(limit)) {
        LOG.warn("pod {}: kubelet has made no cgroup for it below the node's cgroup root, so the driver holds it to no"
            + " memory, only the interception library does; kubelet's cgroupsPerQOS may be false", limit.podUid());
      }
    }
  }

  /** How many limits the driver has refused to set. */
  public int failures() {
    return failed.size();
  }

  @Override
  public void close() {
    calls.close();
  }

  /**
   * Checks and mends the limits once.
   *
   * @param podsAtWork as {@link #start} takes it
   * @return how long to pause before the next time
   */
  public Duration check(Supplier<Map<String, Set<String>>> podsAtWork) {
    Set<String> cards = limitedCards();
    if (cards.isEmpty()) {
      failed.clear();
      return PERIOD;
    }
    Map<String, Set<String>> atWork = podsAtWork.get();
    try {
      List<PodLimit> limits = new ArrayList<>();
      for (String card : cards) { // with its lock: whoever changes a claim's sizes there has the driver told before
        store.lock().onCards(Set.of(card), () -> limits.addAll(bringAbout(card, atWork)));
      }
      failed.keySet().retainAll(limits);
    } catch (IOException e) {
      LOG.warn(
          "cannot read which pods have which shares, so the driver's memory limits are not checked; trying again: {}",
          e.toString());
    }
    return PERIOD;
  }

  /** Sets the limits of one card as its claims are recorded, or lifts them; gives them. */
  private List<PodLimit> bringAbout(String card, Map<String, Set<String>> podsAtWork) throws IOException {
    Set<String> cards = Set.of(card);
    List<PreparedClaim> claims =
        store.checkpoint().readAll().stream().filter(claim -> hasShareOf(claim, cards)).toList();
    Map<String, Set<String>> pods = reserved(claims);
    podsAtWork.forEach((claim, uids) -> pods.computeIfAbsent(claim, uid -> new TreeSet<>()).addAll(uids));
    List<PodLimit> limits = PodLimit.of(claims, pods, cards, written(claims));
    limits.forEach(wanted ? this::set : this::lift);
    return limits;
  }

  /** Of the cards that can have limits; where none are wanted any more, of all. */
  private Set<String> limitedCards() {
    return inventory.get() instanceof Inventory.Cards cards
        ? cards.gpus().stream().filter(gpu -> !wanted || cards.enforcerOf(gpu.uuid()).limitsPods()).map(Gpu::uuid)
            .collect(Collectors.toCollection(HashSet::new))
        : new HashSet<>();
  }

  private static boolean hasShareOf(PreparedClaim claim, Set<String> cards) {
    return !Collections.disjoint(cardsOfShares(claim), cards);
  }

  private static List<String> cardsOfShares(PreparedClaim claim) {
    return claim.grants().stream().filter(grant -> grant.share().isPresent() && grant.mig().isEmpty())
        .map(grant -> grant.card().uuid())
        .toList();
  }

  private Map<String, Set<String>> reserved(Collection<PreparedClaim> claims) throws IOException {
    Map<String, Set<String>> pods = new TreeMap<>();
    for (PreparedClaim claim : claims) {
      pods.put(claim.claim().uid(), new TreeSet<>(store.pods().of(claim.claim().uid())));
    }
    return pods;
  }

  /** Bytes of the card that containers are held to, by the claim's UID and the share's key. */
  private Map<String, Map<String, Long>> written(Collection<PreparedClaim> claims) throws IOException {
    Map<String, Map<String, Long>> written = new TreeMap<>();
    for (PreparedClaim claim : claims) {
      Map<String, Long> ofClaim = new TreeMap<>();
      store.folders().limits(claim.claim().uid())
          .forEach((share, limits) -> ofClaim.put(share, limits.physicalBytes()));
      written.put(claim.claim().uid(), ofClaim);
    }
    return written;
  }

  /** Whether the pod has a cgroup. */
  private boolean set(PodLimit limit) {
    try {
      Optional<Path> cgroup = cgroups.of(limit.podUid());
      if (cgroup.isPresent()) {
        calls.change("limiting a pod's memory", () -> set(limit, cgroup.get()));
      }
      failed.remove(limit);
      return cgroup.isPresent();
    } catch (NvmlException | IOException e) {
      String why = String.valueOf(e.getMessage());
      if (!why.equals(failed.put(limit, why))) {
        LOG.warn("pod {}: the driver cannot hold it to {} of card {}, so only the interception library does: {}",
            limit.podUid(), Bytes.words(limit.bytes()), limit.card(), why);
      }
      return true;
    }
  }

  private void set(PodLimit limit, Path cgroup) throws NvmlException {
    OptionalLong now = driver.memoryLimit(limit.card(), cgroup);
    if (now.isEmpty() || now.getAsLong() != limit.bytes()) {
      driver.limitMemory(limit.card(), cgroup, limit.bytes());
      LOG.info("pod {}: the driver holds it to {} of card {}", limit.podUid(), Bytes.words(limit.bytes()),
          limit.card());
    }
  }

  /** A limit of another size is somebody else's. */
  private void lift(PodLimit limit) {
    try {
      Optional<Path> cgroup = cgroups.of(limit.podUid());
      if (cgroup.isPresent()) {
        calls.change("lifting a pod's memory limit", () -> lift(limit, cgroup.get()));
      }
    } catch (NvmlException | IOException e) { // such as a driver that has no limits
      LOG.debug("pod {}: cannot see whether the driver limits its memory: {}", limit.podUid(), e.toString());
    }
  }

  private void lift(PodLimit limit, Path cgroup) throws NvmlException {
    OptionalLong now = driver.memoryLimit(limit.card(), cgroup);
    if (now.isPresent() && now.getAsLong() == limit.bytes()) {
      driver.limitMemory(limit.card(), cgroup, MemoryLimitControl.NO_LIMIT);
      LOG.info("pod {}: the driver holds it to {} of card {} no longer", limit.podUid(), Bytes.words(limit.bytes()),
          limit.card());
    }
  }
}
