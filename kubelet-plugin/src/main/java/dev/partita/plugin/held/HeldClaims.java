package dev.partita.plugin.held;

import dev.partita.api.node.HeldClaim;
import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.checkpoint.ForeignRecord;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.share.ShareFolders;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows what the node holds although no claim accounts for it. Only the API server knows which claims are gone: the
 * search for leftovers asks it, and tells this class. Whether anything of them is still on the node is looked up at
 * each question, so nothing counts as held any more once it was released. For any thread.
 */
public final class HeldClaims {
  private static final Logger LOG = LoggerFactory.getLogger(HeldClaims.class);

  private final Checkpoint checkpoint;
  private final Traces traces;
  private final Clock clock;
  private final Map<String, Instant> since = new HashMap<>(); // held by this
  private volatile Set<String> gone = Set.of();
  private volatile boolean looked;
  private volatile List<HeldClaim> reported = List.of();

  /** @param clock the time of day */
  public HeldClaims(Checkpoint checkpoint, CdiFolder cdi, ShareFolders folders, Clock clock) {
    this.checkpoint = checkpoint;
    this.traces = new Traces(cdi, folders, checkpoint.notes());
    this.clock = clock;
  }

  /**
   * Takes in which claims are gone, though something of each is on the node: the API server does not know them, or has
   * not allocated them to this node.
   *
   * @return whether others are gone than before
   */
  public synchronized boolean setGone(Set<String> claimUids) {
    Set<String> before = gone;
    gone = Set.copyOf(claimUids);
    boolean first = !looked;
    looked = true;
    return first || !gone.equals(before);
  }

  /** Takes in that the claim is there, and allocated to this node again. */
  public synchronized void markPresent(String claimUid) {
    if (gone.contains(claimUid)) {
      Set<String> others = new HashSet<>(gone);
      others.remove(claimUid);
      gone = Set.copyOf(others);
    }
  }

  /** Whether the claim is known to be gone. */
  public boolean isGone(String claimUid) {
    return gone.contains(claimUid);
  }

  /**
   * What stands in the way of new claims without a record that can be read, as if it were prepared: whatever another
   * version of the plugin has prepared, and what is left of claims that are gone. A claim that is not gone will have a
   * record again, so what is left of it is not meant. As long as nobody has looked, each may be gone.
   *
   * @param besides UID of the claim that it may stand in the way of
   * @param records all that can be read
   */
  public List<PreparedClaim> withoutRecord(String besides, Collection<PreparedClaim> records, Inventory.Cards cards)
      throws IOException {
    boolean nobodyIsGone = looked && gone.isEmpty(); // as a rule; and every preparation asks
    Set<String> uids = nobodyIsGone ? Set.of() : traces.uids();
    return withoutRecord(uids, records, cards, uid -> !uid.equals(besides) && (!looked || isGone(uid)));
  }

  /**
   * All that takes something of cards without a record that can be read, also of claims that will have one again.
   *
   * @param records all that can be read
   */
  public List<PreparedClaim> allWithoutRecord(Collection<PreparedClaim> records, Inventory.Cards cards)
      throws IOException {
    return withoutRecord(traces.uids(), records, cards, uid -> true);
  }

  /**
   * @param uids of claims of which something lies here
   * @param meant which of these count where they have neither a record nor one of another version
   */
  private List<PreparedClaim> withoutRecord(
      Set<String> uids,
      Collection<PreparedClaim> records,
      Inventory.Cards cards,
      Predicate<String> meant)
      throws IOException {
    List<PreparedClaim> held = new ArrayList<>();
    Set<String> recorded = new HashSet<>();
    for (ForeignRecord record : checkpoint.foreign()) {
      recorded.add(record.uid());
      held.add(traces.of(record, cards));
    }
    records.forEach(record -> recorded.add(record.claim().uid()));
    for (String uid : uids) {
      if (!recorded.contains(uid) && meant.test(uid)) {
        held.add(traces.of(uid, cards));
      }
    }
    return held;
  }

  /** What a claim without a record has, as far as its files tell. */
  public List<Grant> grantsWithoutRecord(String uid, Inventory.Cards cards) throws IOException {
    return traces.of(uid, cards).grants();
  }

  /** What the GpuNode is to report. */
  public List<HeldClaim> report(Inventory inventory) {
    if (!(inventory instanceof Inventory.Cards cards)) {
      return reported; // it uses them still, for all that is known
    }
    try {
      List<HeldClaim> held = read(cards);
      reported = held;
      return held;
    } catch (IOException e) {
      throw new IllegalStateException("what the node holds without a claim cannot be read: " + e, e);
    }
  }

  private List<HeldClaim> read(Inventory.Cards cards) throws IOException {
    List<HeldClaim> held = new ArrayList<>();
    Set<String> foreign = new HashSet<>();
    for (ForeignRecord record : checkpoint.foreign()) {
      foreign.add(record.uid());
      held.add(report(traces.of(record, cards), HeldClaim.Reason.OtherVersion));
    }
    for (String uid : gone.stream().sorted().toList()) {
      if (foreign.contains(uid)) {
        continue;
      }
      Optional<PreparedClaim> record = checkpoint.read(uid);
      if (record.isPresent()) {
        held.add(report(record.get(), HeldClaim.Reason.ClaimGone));
      } else if (traces.areOf(uid)) {
        held.add(report(traces.of(uid, cards), HeldClaim.Reason.ClaimGone));
      }
    }
    held.removeIf(claim -> claim.devices().isEmpty());
    forgetOthers(held);
    return List.copyOf(held);
  }

  private HeldClaim report(PreparedClaim held, HeldClaim.Reason reason) {
    ClaimRef claim = held.claim();
    return new HeldClaim(
        claim.uid(),
        claim.namespace().isEmpty() ? null : claim.namespace(),
        claim.name().isEmpty() ? null : claim.name(),
        reason,
        held.grants().stream().flatMap(grant -> grant.use().held(grant.card()).stream()).toList(),
        seen(claim.uid(), reason));
  }

  private synchronized String seen(String uid, HeldClaim.Reason reason) {
    return since.computeIfAbsent(
        uid,
        u -> {
          LOG.warn("claim {}: the node holds its devices, although there is no such claim any more ({})", u, reason);
          return clock.instant();
        })
        .truncatedTo(ChronoUnit.SECONDS)
        .toString();
  }

  private synchronized void forgetOthers(List<HeldClaim> held) {
    Set<String> uids = new HashSet<>();
    held.forEach(claim -> uids.add(claim.claimUid()));
    since.keySet().retainAll(uids);
  }
}
