package dev.partita.plugin.resize;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.resize.AskedSize;
import dev.partita.api.resize.NodeResizes;
import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import dev.partita.plugin.prepare.ClaimRewriter;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.ShareUse;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts sizes into force that the controller grants to shares while containers use them: it writes the next generation
 * of their quota files, which the hook library reads at the next allocation. The node learns of a grant by its
 * GpuNode's status; what the claim has then is read from the claim itself.
 *
 * <p>A smaller size waits until the share's processes hold no more than that. Then containers are held to it, and only
 * if that is still so {@link #VERIFIED_AFTER} later it is in force, so that others may get the difference: meanwhile an
 * allocation may have come through that began under the larger size.
 */
public final class ShareResizer {
  private static final Logger LOG = LoggerFactory.getLogger(ShareResizer.class);

  /** API calls and files of all claims, when the API server is slow. */
  private static final Duration ALLOWED = Duration.ofMinutes(10);

  private static final Duration IDLE = Duration.ofHours(1); // a GpuNode that changes wakes it
  private static final Duration BETWEEN_TRIES = Duration.ofSeconds(1); // as often as it is seen what shares hold
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(10);

  /**
   * What the node knows.
   *
   * @param pool of its devices
   * @param told what the controller tells; empty as long as nobody has said
   * @param inventory its cards
   * @param spec its settings
   * @param uses what shares are used for
   * @param looked when that was seen of a card, by its UUID and the monotonic clock
   */
  public record NodeState(
      String pool,
      Supplier<Optional<NodeResizes>> told,
      Supplier<Inventory> inventory,
      Supplier<GpuNodeSpec> spec,
      Supplier<Map<ShareRef, ShareUse>> uses,
      Function<String, Instant> looked) {
    /** Whether what a claim's shares hold has been seen long enough after they were held to less. */
    boolean isSeenSince(Instant tightened, PreparedClaim claim) {
      return claim.grants().stream().filter(grant -> grant.share().isPresent())
          .noneMatch(grant -> looked.apply(grant.card().uuid()).isBefore(tightened.plus(VERIFIED_AFTER)));
    }
  }

  /** Two looks at what shares hold. */
  static final Duration VERIFIED_AFTER = Duration.ofSeconds(3);

  /**
   * A claim whose containers are held to less already than its record says.
   *
   * @param to what it is to become
   * @param since when, by the loop's clock
   */
  private record Tightened(PreparedClaim to, Instant since) {}

  /**
   * What a claim is, and is to be.
   *
   * @param record as it is prepared
   * @param sizes that were told of it, by shareID
   */
  private record Told(PreparedClaim record, Map<String, String> sizes) {}

  /** What a claim that waits has been read to give: whoever waits for long costs the API server one call. */
  private record Read(Told of, List<Grant> grants) {}

  private final NodeState node;
  private final Checkpoint checkpoint;
  private final ClaimReader api;
  private final ClaimRewriter rewriter;
  private final ClaimReports reports;
  private final SizeOwners owners;
  private final Clock clock;
  private final Map<String, Told> settled = new HashMap<>(); // of claims that are as they are to be
  private final Map<String, Tightened> tightened = new HashMap<>();
  private final Map<String, Read> reads = new HashMap<>();
  private final Map<String, String> asked = new HashMap<>(); // of which the claims were told, by UID
  private final Map<String, Map<String, String>> waits = new HashMap<>(); // sizes of which that was said

  /**
   * @param rewriter writes a claim's files
   * @param owners keeps others from a claim that it is changing
   * @param monotonicClock for how long something lasts
   */
  public ShareResizer(
      NodeState node,
      Checkpoint checkpoint,
      ClaimReader api,
      ClaimRewriter rewriter,
      ClaimReports reports,
      SizeOwners owners,
      Clock monotonicClock) {
    this.node = node;
    this.checkpoint = checkpoint;
    this.api = api;
    this.rewriter = rewriter;
    this.reports = reports;
    this.owners = owners;
    this.clock = monotonicClock;
  }

  /** Begins; what it gives back is to be {@linkplain PeriodicLoop#soon told} when sizes may have changed. */
  public PeriodicLoop start(Loops loops) {
    return loops.make("resize", ALLOWED, this::turn).start();
  }

  private Duration turn() throws IOException {
    Optional<NodeResizes> told = node.told().get();
    if (told.isEmpty()) {
      return IDLE;
    }
    Map<String, Map<String, String>> byClaim = new HashMap<>();
    told.get().granted().forEach(size -> byClaim.computeIfAbsent(size.claimUid(), uid -> new TreeMap<>())
        .put(size.shareId(), size.size()));
    List<PreparedClaim> records = checkpoint.readAll();
    Set<String> there = records.stream().map(record -> record.claim().uid()).collect(Collectors.toSet());
    settled.keySet().retainAll(there);
    tightened.keySet().retainAll(there);
    owners.keep(there);
    waits.keySet().retainAll(there);
    reads.keySet().retainAll(there);
    report(records, told.get().asked());
    Duration pause = IDLE;
    for (PreparedClaim record : records) {
      Map<String, String> sizes = byClaim.getOrDefault(record.claim().uid(), Map.of());
      if (!isSettled(record, sizes)) {
        Duration next = tryToResize(record, sizes);
        pause = next.compareTo(pause) < 0 ? next : pause;
      }
    }
    return pause;
  }

  /** What owners ask for stands in the status of their claims, also where it is never granted. */
  private void report(List<PreparedClaim> records, List<AskedSize> told) {
    Map<String, String> now = new HashMap<>();
    told.forEach(size -> now.put(size.claimUid(), size.size()));
    for (PreparedClaim record : records) {
      String uid = record.claim().uid();
      if (!Objects.equals(now.get(uid), asked.get(uid))) {
        reports.sizeAsked(record);
      }
    }
    asked.clear();
    asked.putAll(now);
  }

  /**
   * A claim that was never resized is only looked at for what is left of a size that was taken back before it was in
   * force, by a plugin before this one or where the record could not be written; of any other the files are written
   * once by each plugin.
   */
  private boolean isSettled(PreparedClaim record, Map<String, String> sizes) throws IOException {
    String uid = record.claim().uid();
    Told now = new Told(record, sizes);
    if (now.equals(settled.get(uid))) {
      return true;
    }
    boolean asPrepared = sizes.isEmpty() && !tightened.containsKey(uid)
        && record.grants().stream().allMatch(grant -> grant.share().flatMap(Share::resized).isEmpty())
        && (record.phase() != Phase.COMPLETED || !rewriter.isHeldOtherwise(record));
    if (asPrepared && record.phase() == Phase.COMPLETED) {
      settled.put(uid, now);
    }
    return asPrepared;
  }

  /** How a try ended. */
  private sealed interface Try {
    record Done() implements Try {}

    /** It goes on by itself. */
    record UnderWay() implements Try {}

    /**
     * The API server has no such claim, or its allocation is another one: kubelet has it released, or prepared anew.
     */
    record Gone() implements Try {}

    /** @param why for people */
    record Waits(String why) implements Try {}
  }

  /** Tries; gives how long to pause before the next try. */
  private Duration tryToResize(PreparedClaim record, Map<String, String> sizes) {
    ClaimRef claim = record.claim();
    if (!owners.take(claim.uid(), this)) {
      return BETWEEN_TRIES;
    }
    settled.remove(claim.uid()); // until it has ended: what it was before may be wanted again meanwhile
    try {
      return switch (resize(record, sizes)) {
        case Try.Done _ -> {
          waits.remove(claim.uid());
          reads.remove(claim.uid());
          yield IDLE;
        }
        case Try.UnderWay _ -> BETWEEN_TRIES;
        case Try.Gone _ -> AFTER_FAILURE; // what one answer says may be wrong
        case Try.Waits(String why) -> {
          if (!sizes.equals(waits.put(claim.uid(), sizes))) { // how much is held changes all the time
            LOG.info("claim {}: its new size waits: {}", claim, why);
            reports.resizeWaits(record, why);
          }
          yield BETWEEN_TRIES;
        }
      };
    } catch (KubernetesClientException e) {
      LOG.warn("claim {}: its new size is not in force yet; trying again: {}", claim, ApiCalls.explain(e));
    } catch (IOException | IllegalStateException e) {
      LOG.warn("claim {}: its new size is not in force yet; trying again: {}", claim, e.toString());
    } finally {
      if (!tightened.containsKey(claim.uid())) {
        owners.leave(claim.uid(), this);
      }
    }
    return AFTER_FAILURE;
  }

  private Try resize(PreparedClaim record, Map<String, String> sizes) throws IOException {
    String uid = record.claim().uid();
    @Nullable Read known = reads.get(uid);
    if (known != null && known.of().equals(new Told(record, sizes))) {
      return resize(record, known.grants(), sizes);
    }
    if (!(node.inventory().get() instanceof Inventory.Cards cards)) {
      return new Try.Waits("no driver answers");
    }
    Optional<ResourceClaim> claim = api.claim(record.claim());
    if (claim.isEmpty() || !AllocationDecoder.givesExactly(claim.get(), node.pool(), record.grants())) {
      return new Try.Gone();
    }
    return switch (AllocationDecoder.read(claim.get(), node.pool(), cards, node.spec().get())) {
      case AllocationDecoder.Refused(String reason) -> new Try.Waits(reason);
      case AllocationDecoder.Granted(List<Grant> grants, MetadataNames _) -> {
        reads.put(uid, new Read(new Told(record, sizes), grants));
        yield resize(record, grants, sizes);
      }
    };
  }

  private Try resize(PreparedClaim record, List<Grant> grants, Map<String, String> sizes) throws IOException {
    String uid = record.claim().uid();
    switch (ResizedClaim.of(record, grants, grant -> held(record, grant))) {
      case ResizedClaim.Same _ -> {
        return ended(rewriter.writeSizes(record, record), record, sizes);
      }
      case ResizedClaim.Waits(String why) -> {
        return tightened.remove(uid) == null
            ? new Try.Waits(why)
            : rewriter.writeSizes(record, record).<Try>map(Try.Waits::new).orElseGet(() -> new Try.Waits(why));
      }
      case ResizedClaim.Changed(PreparedClaim changed, boolean isSmaller) -> {
        if (isSmaller) {
          @Nullable Tightened before = tightened.get(uid);
          // kubelet may have had the claim's files written anew meanwhile, as its record says
          if (before == null || !before.to().equals(changed) || !rewriter.isHeldToLess(record)) {
            tightened.put(uid, new Tightened(changed, clock.instant()));
            return rewriter.writeSizes(record, changed).<Try>map(Try.Waits::new).orElseGet(Try.UnderWay::new);
          }
          if (!node.isSeenSince(before.since(), record)) {
            return new Try.UnderWay();
          }
        }
        Try end = ended(rewriter.resize(record, changed), changed, sizes);
        if (end instanceof Try.Done) {
          LOG.info("claim {}: resized: {}", record.claim(), sizes);
          reports.resized(changed);
        }
        return end;
      }
    }
  }

  private Try ended(Optional<String> wait, PreparedClaim as, Map<String, String> sizes) {
    if (wait.isPresent()) {
      return new Try.Waits(wait.get());
    }
    tightened.remove(as.claim().uid());
    settled.put(as.claim().uid(), new Told(as, sizes));
    return new Try.Done();
  }

  /** Bytes that processes hold of a share: by NVML, or by its ledger where that has more. */
  private long held(PreparedClaim record, Grant grant) {
    @Nullable ShareUse use = node.uses().get().get(new ShareRef(record.claim().uid(), grant.shareKey()));
    return use == null ? 0 : use.heldBytes();
  }
}
