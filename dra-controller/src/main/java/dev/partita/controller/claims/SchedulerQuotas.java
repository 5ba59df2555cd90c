package dev.partita.controller.claims;

import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.controller.allocate.ClaimAsk;
import dev.partita.controller.allocate.DeviceAsk;
import dev.partita.controller.held.HeldBookings;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.proposal.Proposal;
import dev.partita.controller.quota.QuotaLedger;
import dev.partita.controller.quota.QuotaWorld;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.selector.Verdict;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Whether a claim that is about to be made is more than a quota allows where kube-scheduler allocates: there nobody of ours is asked
 * again. What claims have counts, and so does what they wait for. It holds in every instance, leading or not, and costs nothing as
 * long as there is no quota or no such node.
 *
 * <p>Claims that are made before the watch shows those from a moment ago do not see them.
 */
public final class SchedulerQuotas implements AutoCloseable {
  /** For a claim that has no name or UID yet. */
  private static final String TO_BE_GIVEN = "new";

  private record Waiting(String namespace, ClaimAsk ask) {}

  private final ClusterView view;
  private final DeviceSelectors selectors = new DeviceSelectors();
  private final ClaimReader reader;
  private final Consumer<ClusterEvent> listener = this::changed;

  // All of what follows is held by this.
  private final Set<ObjectKey> changedClaims = new HashSet<>();
  private final Map<ObjectKey, String> uids = new HashMap<>();
  private final Map<String, Waiting> waiting = new HashMap<>();
  private QuotaLedger ledger = new QuotaLedger();
  private List<HeldBookings> held = List.of();
  private Inventory inventory = Inventory.EMPTY;
  private boolean worldChanged = true;
  private boolean classesChanged = true;
  private boolean counting;

  public SchedulerQuotas(ClusterView view) {
    this.view = view;
    this.reader = new ClaimReader(view::deviceClass, selectors);
    view.listen(listener);
  }

  @Override
  public void close() {
    view.unlisten(listener);
  }

  /** Why a namespace may not have that claim; empty if it may, or it is not for our devices. */
  public synchronized Optional<String> refusal(String namespace, ResourceClaim claim) {
    if (!matters()) {
      return Optional.empty();
    }
    count();
    Map<String, List<ClaimAsk>> asked =
        waiting.values().stream().collect(Collectors.groupingBy(Waiting::namespace, Collectors.mapping(Waiting::ask, Collectors.toList())));
    return reader.read(named(namespace, claim)) instanceof ClaimReading.Understood(ClaimAsk ask)
        ? ledger.refusal(namespace, ask, asked, host -> host.allocator() == Allocator.Scheduler && isMeant(host, ask))
        : Optional.empty();
  }

  private synchronized void changed(ClusterEvent event) {
    switch (event) {
      case ClusterEvent.ClaimChanged(ObjectKey claim, String _) -> {
        if (counting) {
          changedClaims.add(claim);
        }
      }
      case ClusterEvent.ClassChanged _ -> classesChanged = true;
      case ClusterEvent.GpuNodeChanged _, ClusterEvent.NodeChanged _, ClusterEvent.QuotaChanged _, ClusterEvent.NamespaceChanged _ ->
          worldChanged = true;
      case ClusterEvent.PodChanged _, ClusterEvent.SliceChanged _, ClusterEvent.TemplateChanged _ -> {}
    }
  }

  /** Whether there is a quota and a node where it is for admission to hold it; if not, nothing is counted until there is. */
  private boolean matters() {
    boolean matters =
        !view.quotas().isEmpty()
            && view.gpuNodes().stream().anyMatch(node -> node.getSpec() != null && node.getSpec().allocator() == Allocator.Scheduler);
    if (!matters) {
      counting = false;
      changedClaims.clear();
    }
    return matters;
  }

  private void count() {
    if (!counting || classesChanged) {
      ledger = new QuotaLedger();
      waiting.clear();
      uids.clear();
      view.claims().forEach(claim -> changedClaims.add(ObjectKey.of(claim)));
      worldChanged = true;
      classesChanged = false;
      counting = true;
    }
    if (worldChanged) {
      worldChanged = false;
      inventory = inventory.refreshed(view.gpuNodes());
      ledger.refresh(QuotaWorld.of(view, inventory));
      held.forEach(of -> ledger.remove(of.key()));
      held = inventory.hosts().values().stream().flatMap(host -> HeldBookings.of(host).stream()).toList();
    }
    changedClaims.forEach(this::countAnew);
    changedClaims.clear();
    held.forEach(this::countHeld);
  }

  private void countAnew(ObjectKey key) {
    @Nullable String before = uids.remove(key);
    if (before != null) {
      ledger.remove(before);
      waiting.remove(before);
    }
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim == null) {
      return;
    }
    String uid = claim.getMetadata().getUid();
    uids.put(key, uid);
    if (AllocatedClaim.isAllocated(claim)) {
      ledger.put(uid, key.namespace(), AllocatedClaim.bookings(claim));
    } else if (reader.read(claim) instanceof ClaimReading.Understood(ClaimAsk ask)) {
      Optional<Proposal> proposal = Proposal.of(claim).filter(proposed -> proposed.isWithin(ask));
      if (proposal.isPresent()) {
        ledger.put(uid, key.namespace(), proposal.get().bookings());
      } else if (claim.getMetadata().getDeletionTimestamp() == null) {
        waiting.put(uid, new Waiting(key.namespace(), ask));
      }
    }
  }

  /** What a node holds for a claim counts unless the claim itself does. */
  private void countHeld(HeldBookings of) {
    if (ledger.namespaceOf(of.claimUid()).isPresent() && !of.besides()) {
      ledger.remove(of.key());
    } else {
      ledger.put(of.key(), of.namespace().orElse(""), of.bookings());
    }
  }

  /** Whether the selectors and the placement of every request leave it a device of the host. */
  private boolean isMeant(GpuHost host, ClaimAsk ask) {
    return ask.requests().stream()
        .allMatch(
            request -> request.alternatives().stream().anyMatch(each -> host.devices().stream().anyMatch(device -> isSelected(device, each))));
  }

  private boolean isSelected(Device device, DeviceAsk ask) {
    return ask.placement().models().allows(device.card().model())
        && ask.placement().uuids().allows(device.card().gpu().uuid())
        && ask.selectors().stream().allMatch(selector -> selectors.evaluate(selector.expression(), device) instanceof Verdict.Matches);
  }

  /** A claim that is about to be made may have neither name nor UID, which references have. */
  private static ResourceClaim named(String namespace, ResourceClaim claim) {
    return new ResourceClaimBuilder(claim)
        .editOrNewMetadata()
        .withNamespace(namespace)
        .withName(Objects.requireNonNullElse(claim.getMetadata().getName(), TO_BE_GIVEN))
        .withUid(TO_BE_GIVEN)
        .endMetadata()
        .build();
  }
}
