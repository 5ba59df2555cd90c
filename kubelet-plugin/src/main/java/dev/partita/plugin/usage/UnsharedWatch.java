package dev.partita.plugin.usage;

import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.DeviceNotes;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.store.ClaimPods;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.UsageWords;
import dev.partita.plugin.usage.verdict.UseFigures;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells claims of whole cards, of cards in turn and of MIG instances what their processes hold, by NVML: nothing is
 * limited there, so once a minute is enough, and only what has changed by much is told.
 */
public final class UnsharedWatch {
  private static final Logger LOG = LoggerFactory.getLogger(UnsharedWatch.class);
  private static final Duration PERIOD = Duration.ofMinutes(1);
  private static final Duration ALLOWED = Duration.ofMinutes(4);

  private final Checkpoint checkpoint;
  private final Supplier<Map<String, List<ProcessMemory>>> nvml;
  private final MigControl mig;
  private final Pods pods;
  private final BiConsumer<PreparedClaim, Map<String, DeviceNotes>> reports;
  private final Map<ShareRef, UseFigures> told = new HashMap<>();
  // what was there at the first look: an earlier plugin may have told of processes that have ended since
  private final Set<ShareRef> ofEarlier = new HashSet<>();
  private boolean looked;

  /**
   * @param nvml what processes hold of each card that tells, by the card's UUID
   * @param pods whose processes are whose, where several have a card
   * @param reports takes what is to be written of a claim, by share key
   */
  public UnsharedWatch(
      Checkpoint checkpoint,
      Supplier<Map<String, List<ProcessMemory>>> nvml,
      MigControl mig,
      Pods pods,
      BiConsumer<PreparedClaim, Map<String, DeviceNotes>> reports) {
    this.checkpoint = checkpoint;
    this.nvml = nvml;
    this.mig = mig;
    this.pods = pods;
    this.reports = reports;
  }

  /** Tells processes of pods apart. */
  public interface Pods {
    /** UID of the pod that a process runs in; empty if it runs in none, or cannot be seen. */
    Optional<String> ofProcess(long pid);

    /** UIDs of the pods that a claim was reserved for. */
    Set<String> ofClaim(String claimUid) throws IOException;

    /** Whether the node's processes can be seen at all. */
    boolean seesAll();

    /**
     * The pods of a node.
     *
     * @param host its processes
     * @param reserved for whom claims are
     */
    static Pods of(HostProcesses host, ClaimPods reserved) {
      return new Pods() {
        @Override
        public Optional<String> ofProcess(long pid) {
          return host.pod(pid);
        }

        @Override
        public Set<String> ofClaim(String claimUid) throws IOException {
          return reserved.of(claimUid);
        }

        @Override
        public boolean seesAll() {
          return host.seesAll();
        }
      };
    }
  }

  /** Looks now and then every minute. */
  public void start(Loops loops) {
    loops.makeAskingDriver("unshared-usage", ALLOWED, () -> {
      look();
      return PERIOD;
    }).start();
  }

  /** Looks once. NVML is not asked where nobody has a whole card or a MIG instance. */
  void look() throws IOException {
    List<PreparedClaim> records = checkpoint.readAll().stream()
        .filter(record -> record.phase() == PreparedClaim.Phase.COMPLETED)
        .filter(record -> record.grants().stream().anyMatch(UnsharedWatch::isUnshared)).toList();
    Map<String, List<ProcessMemory>> held = records.isEmpty() ? Map.of() : nvml.get();
    Set<ShareRef> there = new HashSet<>();
    for (PreparedClaim record : records) {
      Map<String, DeviceNotes> news = new TreeMap<>();
      for (Grant grant : record.grants().stream().filter(UnsharedWatch::isUnshared).toList()) {
        ShareRef ref = new ShareRef(record.claim().uid(), grant.shareKey());
        there.add(ref);
        if (!looked) {
          ofEarlier.add(ref);
        }
        @Nullable List<ProcessMemory> onCard = held.get(grant.card().uuid());
        if (onCard != null) {
          processes(record, grant, onCard).flatMap(its -> news(ref, grant, its))
              .ifPresent(notes -> news.put(grant.shareKey(), notes));
        }
      }
      if (!news.isEmpty()) {
        reports.accept(record, news);
      }
    }
    looked = true;
    told.keySet().retainAll(there);
    ofEarlier.retainAll(there);
  }

  /** Whether it takes a card or a part of it without the hook library: who only looks at one takes nothing. */
  private static boolean isUnshared(Grant grant) {
    return grant.share().isEmpty() && grant.use().held(grant.card()).isPresent();
  }

  /** Those that use it; empty if that cannot be told now. */
  private Optional<List<ProcessMemory>> processes(PreparedClaim claim, Grant grant, List<ProcessMemory> onCard)
      throws IOException {
    if (grant.use().timeSlicing().isPresent()) { // others have the card, too: those of the claim's pods are its own
      Set<String> own = pods.ofClaim(claim.claim().uid());
      return pods.seesAll()
          ? Optional.of(onCard.stream().filter(its -> pods.ofProcess(its.pid()).filter(own::contains).isPresent())
              .toList())
          : Optional.empty();
    }
    if (grant.mig().isEmpty() || onCard.isEmpty()) {
      return Optional.of(onCard);
    }
    return instance(grant.card(), grant.mig().get()).map(id -> onCard.stream()
        .filter(process -> process.gpuInstance().isPresent() && process.gpuInstance().getAsInt() == id).toList());
  }

  private Optional<Integer> instance(CardIdentity card, MigInstance wanted) {
    try {
      return mig.mig(card.uuid()).instances().stream()
          .filter(is -> is.profile().equals(wanted.profile()) && is.placement().equals(wanted.placement()))
          .map(MigControl.GpuInstance::id).findFirst();
    } catch (NvmlException e) {
      LOG.debug("{}: who uses its MIG instances is not told now: {}", card.uuid(), e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * Nothing until a process is seen for the first time, if no earlier plugin can have seen one, and then what has
   * changed by much.
   */
  private Optional<DeviceNotes> news(ShareRef ref, Grant grant, List<ProcessMemory> processes) {
    long bytes = processes.stream().mapToLong(ProcessMemory::bytes).sum();
    UseFigures figures = new UseFigures(grant.use().memoryBytes(grant.card()), bytes, bytes, 0, processes.size(),
        OptionalInt.empty(), OptionalInt.empty());
    @Nullable UseFigures before = told.get(ref);
    if (before == null ? processes.isEmpty() && !ofEarlier.contains(ref) : !figures.isNewsAfter(before)) {
      return Optional.empty();
    }
    ofEarlier.remove(ref);
    told.put(ref, figures);
    return Optional.of(new DeviceNotes(UsageWords.withoutLedger(figures), List.of()));
  }
}
