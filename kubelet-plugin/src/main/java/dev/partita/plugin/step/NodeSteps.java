package dev.partita.plugin.step;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.checkpoint.AskedSlice;
import dev.partita.plugin.checkpoint.DriverNotes;
import dev.partita.plugin.checkpoint.MadeInstance;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.AdminAccess;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.InstanceShare;
import dev.partita.plugin.grant.TimeSlicing;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.memorylimit.DriverLimits;
import dev.partita.plugin.metadata.DeviceMetadata;
import dev.partita.plugin.mig.MigCards;
import dev.partita.plugin.mps.MpsDaemons;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.store.ClaimStore;
import dev.partita.plugin.timeslice.TimeSlices;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Carries out steps on this node's files.
 *
 * @param pool of this node's devices
 * @param inventory where the driver's files are
 * @param driver what the driver is told
 */
public record NodeSteps(
    String pool,
    ClaimStore store,
    HookLibraries libraries,
    ClaimSpec specs,
    Supplier<Inventory> inventory,
    Driver driver)
    implements Step.Executor {

  /**
   * What the driver is told of cards and pods.
   *
   * @param mig where MIG instances are made and ended
   * @param mayCut whether cards may be cut into MIG instances: then those that are not needed go when a card is used as
   *        a whole or shared
   * @param limits how much memory pods may have
   * @param timeSlices how long programs have a card in turn
   * @param mps the daemons of cards that are shared by MPS
   */
  public record Driver(MigCards mig, boolean mayCut, DriverLimits limits, TimeSlices timeSlices, MpsDaemons mps) {}

  @Override
  public void execute(Step step) throws IOException {
    switch (step) {
      case Step.WriteRecord write -> store.checkpoint().write(write.claim());
      case Step.RequireFreePlace require -> requireFreePlace(require);
      case Step.MakeInstance make -> driver.mig().provide(make.grant().card(), make.instance());
      case Step.ClearInstances clear -> clearInstances(clear.grant());
      case Step.EndInstances end -> endInstances(end.uid());
      case Step.SetTimeSlice set -> setTimeSlice(set.grant());
      case Step.RestoreTimeSlices restore -> restoreTimeSlices(restore.uid());
      case Step.ProvideMps provide ->
          driver.mps().provide(provide.grant().card(), store.checkpoint().readAll());
      case Step.EndMps end -> endMps(end.uid());
      case Step.LimitMemory limit -> driver.limits().hold(limit.claim());
      case Step.WriteShare write -> store.folders().write(write.claim(), write.grant(), write.share());
      case Step.WriteMetadata write -> writeMetadata(write.claim());
      case Step.WriteSpec write -> writeSpec(write.claim());
      case Step.RemoveSpec remove -> removeSpec(remove.uid());
      case Step.RemoveMetadata remove -> store.metadata().remove(remove.uid());
      case Step.RemoveShares remove -> store.folders().remove(remove.uid());
      case Step.RemoveRecord remove -> store.checkpoint().remove(remove.uid());
    }
  }

  private void writeMetadata(PreparedClaim claim) throws IOException {
    Inventory.Cards cards = cards();
    for (String request : claim.requests()) {
      store.metadata().write(claim.claim().uid(), request, DeviceMetadata.of(claim, request, pool, cards));
    }
  }

  private void writeSpec(PreparedClaim claim) throws IOException {
    Inventory.Cards cards = cards();
    if (claim.grants().stream().allMatch(Grant::isOpaque)) {
      store.cdi().write(claim.claim().uid(), specs.ofOpaque(claim, cards.opaque()));
      return;
    }
    DriverFiles driver = cards.files().orElseThrow(
        () -> new IOException("there is no driver of NVIDIA's that answers; see the node's GpuNode"));
    store.cdi().write(claim.claim().uid(),
        specs.of(claim, instances(claim), driver, libraries.install(), cards.opaque()));
  }

  private Inventory.Cards cards() throws IOException {
    return switch (inventory.get()) {
      case Inventory.NoCards none -> throw new IOException(none.message());
      case Inventory.Cards cards -> cards;
    };
  }

  private void requireFreePlace(Step.RequireFreePlace require) throws IOException {
    driver.mig().requireNotTaken(require.grant().card(), require.instance(),
        new InstancesOfClaims(store).now().madeOf(require.grant().card().uuid()));
  }

  private void clearInstances(Grant grant) throws IOException {
    if (driver.mayCut()) {
      driver.mig().clear(grant.card());
    }
  }

  /** With a spec whose record is lost goes what it, or the note, says was made or begun: nothing else tells of that. */
  private void removeSpec(String uid) throws IOException {
    if (store.checkpoint().read(uid).isEmpty()) {
      for (MadeInstance made : new InstancesOfClaims(store).madeWithoutRecord(uid)) {
        driver.mig().end(made.card(), made.slot());
      }
      for (String card : mpsWithoutRecord(uid)) {
        leaveMps(uid, card);
      }
      for (AskedSlice asked : slicesWithoutRecord(uid)) {
        driver.timeSlices().restore(asked.card(), asked.slice(), timeSlices(asked.card(), uid));
      }
    }
    store.cdi().remove(uid);
  }

  private void endInstances(String uid) throws IOException {
    Optional<PreparedClaim> record = store.checkpoint().read(uid);
    for (Grant grant : record.map(PreparedClaim::grants).orElse(List.of())) {
      if (grant.use().made().isPresent()) {
        driver.mig().end(grant.card().uuid(), grant.use().made().get().slot());
      }
    }
  }

  private void setTimeSlice(Grant grant) throws IOException {
    driver.timeSlices().provide(grant.card(), timeSlices(grant.card().uuid(), ""));
  }

  private void restoreTimeSlices(String uid) throws IOException {
    Optional<PreparedClaim> record = store.checkpoint().read(uid);
    for (Grant grant : record.map(PreparedClaim::grants).orElse(List.of())) {
      if (grant.use().timeSlicing().isPresent()) {
        driver.timeSlices().restore(grant.card().uuid(), grant.use().timeSlicing().get().interval(),
            timeSlices(grant.card().uuid(), uid));
      }
    }
  }

  private void endMps(String uid) throws IOException {
    Optional<PreparedClaim> record = store.checkpoint().read(uid);
    for (Grant grant : record.map(PreparedClaim::grants).orElse(List.of())) {
      if (grant.use().mps().isPresent()) {
        leaveMps(uid, grant.card().uuid());
      }
    }
    store.checkpoint().notes().remove(uid); // the last step before the record goes
  }

  /**
   * Ends a card's daemon once no other claim has the card by MPS, by its record or, where that is lost, by what else
   * tells.
   */
  private void leaveMps(String uid, String card) throws IOException {
    List<PreparedClaim> others = store.checkpoint().readAll().stream()
        .filter(other -> !other.claim().uid().equals(uid)).toList();
    Optional<CardIdentity> recorded = others.stream().flatMap(other -> other.grants().stream())
        .filter(other -> other.use().mps().isPresent() && other.card().uuid().equals(card)).map(Grant::card)
        .findFirst();
    if (recorded.isPresent()) {
      driver.mps().bound(recorded.get(), others);
      return;
    }
    for (String other : store.withSpecOrNote()) {
      if (!other.equals(uid) && mpsWithoutRecord(other).contains(card)) {
        return;
      }
    }
    driver.mps().end(card);
  }

  /** Cards that a claim has by MPS by its spec and its note; none if neither says anything that can be read. */
  private Set<String> mpsWithoutRecord(String uid) throws IOException {
    Set<String> cards = new TreeSet<>(
        store.cdi().readIfValid(uid).map(driver.mps().folders()::cardsOf).orElse(Set.of()));
    store.checkpoint().notes().of(uid).map(DriverNotes.Note::mps).ifPresent(cards::addAll);
    return cards;
  }

  /** What other claims ask for that have a card in turn, by their records or, where lost, by what else tells. */
  private List<TimeSlice> timeSlices(String card, String butUid) throws IOException {
    List<TimeSlice> asked = new ArrayList<>();
    Set<String> known = new HashSet<>(Set.of(butUid));
    for (PreparedClaim claim : store.checkpoint().readAll()) {
      if (known.add(claim.claim().uid())) {
        claim.grants().stream().filter(grant -> grant.card().uuid().equals(card))
            .flatMap(grant -> grant.use().timeSlicing().stream()).map(TimeSlicing::interval).forEach(asked::add);
      }
    }
    for (String uid : store.withSpecOrNote()) {
      if (known.add(uid)) {
        slicesWithoutRecord(uid).stream().filter(one -> one.card().equals(card)).map(AskedSlice::slice)
            .forEach(asked::add);
      }
    }
    return asked;
  }

  /** What a claim asks for by its spec and its note; nothing if neither says anything that can be read. */
  private Set<AskedSlice> slicesWithoutRecord(String uid) throws IOException {
    Set<AskedSlice> asked = new HashSet<>(store.cdi().readIfValid(uid)
        .map(spec -> AskedSlice.parse(spec.annotations().getOrDefault(ClaimSpec.TIME_SLICES_ANNOTATION, "")))
        .orElse(List.of()));
    store.checkpoint().notes().of(uid).map(DriverNotes.Note::slices).ifPresent(asked::addAll);
    return asked;
  }

  /** The claim's MIG instances as they are now, by share key. */
  private Map<String, GpuInstance> instances(PreparedClaim claim) throws IOException {
    Map<String, GpuInstance> instances = new TreeMap<>();
    for (Grant grant : claim.grants()) {
      if (grant.mig().isPresent()) {
        Optional<GpuInstance> instance = driver.mig().find(grant.card(), grant.mig().get());
        if (grant.use() instanceof InstanceShare share
            && instance.filter(its -> its.computeInstances().stream()
                .noneMatch(part -> part.uuid().equals(share.instanceUuid()))).isPresent()) {
          throw new IOException(grant.device() + " is another instance than " + share.instanceUuid()
              + " by now: somebody has made it anew on the node; make the claim and the pod anew");
        }
        instances.put(
            grant.shareKey(), instance
                .orElseThrow(
                    () -> new IOException(grant.device() + " is not there: " + (grant.use() instanceof AdminAccess
                        ? "there is admin access to it only while another claim has it, or if somebody makes it on the"
                            + " node"
                        : "somebody has ended it on the node"))));
      }
    }
    return instances;
  }
}
