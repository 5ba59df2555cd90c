package dev.partita.plugin.allocation;

import dev.partita.api.AllocatorTaint;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.MigSlot;
import dev.partita.api.RequestName;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.ShareConfigs;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ShareSize;
import dev.partita.api.sharing.SharingStrategy.ModeField;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.grant.AdminAccess;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.grant.StaticInstance;
import dev.partita.plugin.grant.TimeSlicing;
import dev.partita.plugin.grant.WholeCard;
import dev.partita.plugin.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads from a claim's allocation what this node is to prepare. */
public final class AllocationDecoder {
  private static final Pattern SHARE_ID = Pattern.compile("[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?");

  private AllocationDecoder() {}

  /** Outcome of the reading. */
  public sealed interface Outcome {}

  /**
   * The claim can be prepared.
   *
   * @param grants the devices to prepare; empty if the claim has none of this node's
   * @param names by which its device metadata goes
   */
  public record Granted(List<Grant> grants, MetadataNames names) implements Outcome {
    public Granted {
      grants = List.copyOf(grants);
    }
  }

  /** The claim cannot be prepared: what is wrong, for its owner. */
  public record Refused(String reason) implements Outcome {}

  /**
   * Reads the results of our driver for this node's pool, with the configs that apply to them.
   *
   * @param node the node's settings: what of a card a share of all its memory gets
   */
  public static Outcome read(ResourceClaim claim, String pool, Inventory.Cards cards, GpuNodeSpec node) {
    AllocationResult allocation = claim.getStatus() == null ? null : claim.getStatus().getAllocation();
    if (allocation == null || allocation.getDevices() == null) {
      return new Refused("the claim has no allocation");
    }
    Map<String, Grant> grants = new LinkedHashMap<>();
    PlacementCheck check = new PlacementCheck(node.allocator());
    GrantedSizes resized = GrantedSizes.of(claim);
    for (DeviceRequestAllocationResult result : orEmpty(allocation.getDevices().getResults())) {
      if (!Driver.NAME.equals(result.getDriver()) || !pool.equals(result.getPool())) {
        continue;
      }
      switch (grant(result, resized.ofShare(result.getShareID()), orEmpty(allocation.getDevices().getConfig()), cards,
          node, check)) {
        case Part.Refused<Grant>(String why) -> {
          return new Refused(why);
        }
        case Part.Granted<Grant>(Grant grant) -> grants.merge(grant.shareKey(), grant, AllocationDecoder::join);
      }
    }
    if (grants.size() > 1 && grants.values().stream().anyMatch(grant -> grant.use().mps().isPresent())) {
      return new Refused("the claim has a device by MPS beside another one, and a program reaches the MPS daemon of one"
          + " card, and sees no other; ask for one device in one request");
    }
    return switch (NamesDecoder.read(claim, orEmpty(allocation.getDevices().getResults()))) {
      case Part.Granted<MetadataNames>(MetadataNames names) -> new Granted(List.copyOf(grants.values()), names);
      case Part.Refused<MetadataNames>(String why) -> new Refused(why);
    };
  }

  /**
   * Which devices the allocation gives for this pool, whatever the node now thinks of them: as {@code device} or {@code
   * device/shareID}. Two allocations of shares always differ.
   */
  public static Set<String> deviceKeys(ResourceClaim claim, String pool) {
    AllocationResult allocation = claim.getStatus() == null ? null : claim.getStatus().getAllocation();
    Set<String> keys = new TreeSet<>();
    if (allocation != null && allocation.getDevices() != null) {
      for (DeviceRequestAllocationResult result : orEmpty(allocation.getDevices().getResults())) {
        if (Driver.NAME.equals(result.getDriver()) && pool.equals(result.getPool())) {
          keys.add(
              result.getShareID() == null
                  ? result.getDevice()
                  : result.getDevice() + "/" + result.getShareID().toLowerCase(Locale.ROOT));
        }
      }
    }
    return keys;
  }

  /** The same of devices that were read before. */
  public static Set<String> deviceKeys(List<Grant> grants) {
    Set<String> keys = new TreeSet<>();
    grants.forEach(grant -> keys.add(grant.shareId().map(id -> grant.device() + "/" + id).orElse(grant.device())));
    return keys;
  }

  /**
   * Whether the allocation gives the devices of these grants for this pool, and no others: so that what was prepared
   * for the claim is still what it needs. Another allocation of shares never does.
   */
  public static boolean givesExactly(ResourceClaim claim, String pool, List<Grant> grants) {
    return deviceKeys(claim, pool).equals(deviceKeys(grants));
  }

  /** The grant's shareID with the case that the allocation gives it. */
  public static Optional<String> shareIdOf(ResourceClaim claim, String pool, Grant grant) {
    AllocationResult allocation = claim.getStatus() == null ? null : claim.getStatus().getAllocation();
    if (allocation == null || allocation.getDevices() == null) {
      return grant.shareId();
    }
    return orEmpty(allocation.getDevices().getResults()).stream()
        .filter(
            r -> Driver.NAME.equals(r.getDriver()) && pool.equals(r.getPool()) && grant.device().equals(r.getDevice()))
        .map(DeviceRequestAllocationResult::getShareID)
        .filter(Objects::nonNull)
        .filter(id -> Optional.of(id.toLowerCase(Locale.ROOT)).equals(grant.shareId()))
        .findFirst();
  }

  private static Part<Grant> refuse(String reason) {
    return new Part.Refused<>(reason);
  }

  private static Part<Grant> grant(
      DeviceRequestAllocationResult result,
      Optional<ShareSize> resized,
      List<DeviceAllocationConfiguration> configs,
      Inventory.Cards cards,
      GpuNodeSpec node,
      PlacementCheck check) {
    String at = "device " + result.getDevice() + " of request " + result.getRequest();
    Optional<DeviceName> name = DeviceName.parse(String.valueOf(result.getDevice()));
    if (name.isEmpty()) {
      return refuse(
          at + " is not one that this driver offers (gpu-<index>, gpu-<index>-shared, gpu-<index>-mig-<profile>-<start>, the same with -shared, gpu-<index>-opaque)");
    }
    Optional<Gpu> gpu = cards.byIndex(name.get().index());
    if (gpu.isEmpty()) {
      return refuse(at + ": the node has no card with index " + name.get().index());
    }
    String shareId = result.getShareID() == null ? null : result.getShareID().toLowerCase(Locale.ROOT);
    if (shareId != null && !SHARE_ID.matcher(shareId).matches()) {
      return refuse(at + " has a shareID that is not a UUID: \"" + result.getShareID() + "\"");
    }
    Decoded<GpuShareConfig> decoded = ShareConfigs.ofAllocation(configs, String.valueOf(result.getRequest()));
    if (decoded instanceof Decoded.Invalid<GpuShareConfig> invalid) {
      return refuse("the device config for request " + result.getRequest() + " is wrong: " + invalid.message());
    }
    GpuShareConfig config = ((Decoded.Valid<GpuShareConfig>) decoded).value();
    boolean takes = !Boolean.TRUE.equals(result.getAdminAccess());
    Optional<String> excluded = check.brokenBy(gpu.get(), config.placement())
        .or(() -> takes ? notAllocatedByController(result, node) : Optional.empty())
        .or(() -> takes ? unfulfilled(name.get(), config) : Optional.empty())
        .or(() -> notOfItsCard(name.get(), gpu.get()))
        .or(() -> takes ? notAsCardIs(name.get(), gpu.get(), config) : Optional.empty());
    if (excluded.isPresent()) {
      return refuse(at + excluded.get());
    }
    return switch (use(result, resized, name.get(), gpu.get(), config, node)) {
      case Part.Refused<CardUse>(String why) -> refuse(at + why);
      case Part.Granted<CardUse>(CardUse use) -> new Part.Granted<>(
          new Grant(
              List.of(RequestName.withoutSubrequest(String.valueOf(result.getRequest()))),
              name.get().toString(),
              Optional.ofNullable(shareId),
              CardIdentity.of(gpu.get()),
              use));
    };
  }

  /** That somebody else has allocated what the controller allocates here. This and what follows ends a sentence. */
  private static Optional<String> notAllocatedByController(DeviceRequestAllocationResult result, GpuNodeSpec node) {
    return node.allocator() == GpuNodeSpec.Allocator.Controller && toleratesAllocatorTaint(result)
        ? Optional.of(
            " was not allocated by Partita's controller, which allocates on this node: the request tolerates taint "
                + Driver.ALLOCATOR_TAINT
                + ", so others may have the same part of the card. Have its tolerations name the keys of the taints that"
                + " it is to tolerate, such as " + Driver.HEALTH_TAINT + ", and make the claim and the pod anew")
        : Optional.empty();
  }

  /** What the config asks for that no device of this kind does. */
  private static Optional<String> unfulfilled(DeviceName name, GpuShareConfig config) {
    return SharingStrategy.unfulfilled(name.mode(), config.oversubscribe(), config.placement(), config.sharing())
        .map(field -> switch (field) {
          case OVERSUBSCRIBE -> " is no share, and its config asks to oversubscribe, which only a share can";
          case EXCLUSIVE ->
              " is a MIG instance or a share of one, which does not keep others off its card, and its config asks for a card of its own";
          case SHARING, MEMORY_LIMIT, CORE_LIMIT ->
              " is no share, and its config asks to share the card by time-slicing or MPS, which only shares have";
        });
  }

  /** That only one of card and device is opaque. */
  private static Optional<String> notOfItsCard(DeviceName name, Gpu gpu) {
    return name instanceof DeviceName.Opaque == gpu.isOpaque()
        ? Optional.empty()
        : Optional.of(gpu.isOpaque() ? ": the card is opaque, and has no such device" : ": the card is not opaque");
  }

  /** What cannot be had of a card that is opaque, or that somebody else has cut. */
  private static Optional<String> notAsCardIs(DeviceName name, Gpu gpu, GpuShareConfig config) {
    Optional<ModeField> notOnOpaque =
        gpu.isOpaque() ? SharingStrategy.unfulfilledByOpaque(config) : Optional.empty();
    if (notOnOpaque.isPresent()) {
      return Optional.of(", by its config: " + SharingStrategy.insteadOnOpaque(notOnOpaque.get()));
    }
    return gpu.isCutByHand() && !name.mode().isOfInstances()
        ? Optional.of(": somebody else has cut the card into MIG instances, so it can be used only as these")
        : Optional.empty();
  }

  /** What the device is of its card, or why it cannot be had. */
  private static Part<CardUse> use(
      DeviceRequestAllocationResult result,
      Optional<ShareSize> resized,
      DeviceName name,
      Gpu gpu,
      GpuShareConfig config,
      GpuNodeSpec node) {
    SharingStrategy strategy = SharingStrategy.of(name, config.placement(), config.sharing(),
        Boolean.TRUE.equals(result.getAdminAccess()));
    return switch (strategy) {
      case SharingStrategy.AdminAccess _ -> adminAccess(name, gpu);
      case SharingStrategy.MigInstance(MigSlot slot) -> instance(gpu, slot);
      case SharingStrategy.InstanceShare(MigSlot slot) -> instanceShare(result, gpu, slot, node);
      case SharingStrategy.WholeCard _ -> new Part.Granted<>(new WholeCard());
      case SharingStrategy.TimeSlicing(TimeSlice interval) -> inTurn(strategy, interval, node);
      case SharingStrategy.HookedShare _,SharingStrategy.ExclusiveShare _,SharingStrategy.BookedShare _,SharingStrategy.Mps _ ->
          ShareDecoder.read(result, resized, strategy, config, gpu, node);
    };
  }

  /** It consumes nothing, so there is no share that it could be held to. */
  private static Part<CardUse> adminAccess(DeviceName name, Gpu gpu) {
    Optional<MigSlot> slot = name.instance();
    Optional<MigInstance> instance =
        slot.flatMap(place -> gpu.migProfile(place).map(profile -> MigInstance.of(profile, place)));
    return slot.isPresent() && instance.isEmpty()
        ? new Part.Refused<>(": the card has no such MIG instance")
        : new Part.Granted<>(new AdminAccess(instance));
  }

  private static Part<CardUse> inTurn(SharingStrategy strategy, TimeSlice interval, GpuNodeSpec node) {
    Optional<String> unknown = strategy.fieldUnknownToScheduler(true);
    return unknown.isPresent() && node.allocator() == GpuNodeSpec.Allocator.Scheduler
        ? new Part.Refused<>(
            ", by its config, is to be had in turn with others: kube-scheduler allocated it, which knows"
                + " no " + unknown.get() + "; have the controller allocate on this node")
        : new Part.Granted<>(new TimeSlicing(interval));
  }

  /** An instance that is there, where somebody else has cut the card, or else one that is to be made. */
  private static Part<CardUse> instance(Gpu gpu, MigSlot slot) {
    Optional<MigProfile> profile = gpu.migProfile(slot);
    if (gpu.isCutByHand()) {
      return profile.isPresent() && gpu.staticMigInstance(slot).filter(StaticMigInstance::isHealthy).isPresent()
          ? new Part.Granted<>(new StaticInstance(MigInstance.of(profile.get(), slot)))
          : new Part.Refused<>(": somebody else has cut the card into MIG instances, and this is none that is there");
    }
    return profile.<Part<CardUse>>map(its -> new Part.Granted<>(MigInstance.of(its, slot)))
        .orElseGet(() -> new Part.Refused<>(": the card cannot be cut into such MIG instances"
            + (gpu.migProfiles().isEmpty() ? ", or the node's plugin may not do that (--mig)" : "")));
  }

  /** A share of an instance that is there, and that somebody else has made. */
  private static Part<CardUse> instanceShare(
      DeviceRequestAllocationResult result,
      Gpu gpu,
      MigSlot slot,
      GpuNodeSpec node) {
    if (node.allocator() == GpuNodeSpec.Allocator.Scheduler) {
      return new Part.Refused<>(" is a share of a MIG instance, which kube-scheduler cannot allocate beside whole"
          + " instances; have the controller allocate on this node");
    }
    Optional<StaticMigInstance> there = gpu.staticMigInstance(slot).filter(StaticMigInstance::isHealthy);
    Optional<MigProfile> profile = gpu.migProfile(slot);
    if (there.isEmpty() || profile.isEmpty()) {
      return new Part.Refused<>(
          ": there are shares only of MIG instances that somebody else than Partita made, and this"
              + " is none that is there");
    }
    return there.get().hasOwnUuid()
        ? ShareDecoder.ofInstance(result, MigInstance.of(profile.get(), slot), there.get().uuid())
        : new Part.Refused<>(": the driver gives the MIG instance no UUID of its own (\"" + there.get().uuid()
            + "\"), by which its share could be told from others; drivers from 470 on do");
  }

  /** Results have a copy of their request's tolerations. The controller places no claim that has such a one. */
  private static boolean toleratesAllocatorTaint(DeviceRequestAllocationResult result) {
    return orEmpty(result.getTolerations()).stream()
        .anyMatch(t -> AllocatorTaint.isCoveredBy(t.getKey(), t.getOperator(), t.getValue(), t.getEffect()));
  }

  /**
   * One grant of what several requests of the claim were given. Where one of them has the device and another one looks
   * at it ({@code adminAccess}), the claim has it: it must be kept from others whatever order the requests are in.
   */
  private static Grant join(Grant first, Grant second) {
    List<String> requests = new ArrayList<>(first.requests());
    second.requests().stream().filter(request -> !requests.contains(request)).forEach(requests::add);
    CardUse use = first.use() instanceof AdminAccess ? second.use() : first.use();
    return new Grant(requests, first.device(), first.shareId(), first.card(), use);
  }

  private static <T> List<T> orEmpty(@Nullable List<T> list) {
    return list == null ? List.of() : list;
  }
}
