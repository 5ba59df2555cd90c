package dev.partita.controller.match;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.CapacityName;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.inventory.Capacity;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.MigGeometry;
import dev.partita.controller.request.DeviceAsk;
import dev.partita.controller.request.DeviceAsk.Selector;
import dev.partita.controller.request.MemoryRequest;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.selector.Verdict;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Judges devices one by one: selectors, capacities, taints, and what is free. */
public final class Eligibility {
  private static final Pattern MODEL_ASKED = Pattern.compile("\\.model\\s*==\\s*[\"']([^\"']+)[\"']");

  private final DeviceSelectors selectors;

  public Eligibility(DeviceSelectors selectors) {
    this.selectors = selectors;
  }

  /** Whether the device could serve the ask if its card were empty. */
  public Fit inPrinciple(Device device, DeviceAsk ask) {
    Optional<CardRefusal> refusal = notSelected(device, ask);
    if (refusal.isPresent()) {
      return new Fit.Refused(refusal.get());
    }
    for (Device.Taint taint : device.taints()) {
      if (ask.tolerations().stream().noneMatch(toleration -> toleration.covers(taint))) {
        return new Fit.Refused(new CardRefusal.Tainted(taint.key(), taint.value()));
      }
    }
    return accessed(consuming(device, ask), ask);
  }

  private static Fit accessed(Fit consuming, DeviceAsk ask) {
    return consuming instanceof Fit.Fits fits && ask.access() == DeviceAsk.Access.MONITOR
        ? new Fit.Fits(fits.device(), 0, 0, Fit.Taking.NOTHING)
        : consuming;
  }

  /**
   * Whether a request for all devices means this one, too: it is selected and has the capacity that is asked for, as
   * the API has it, where that is taken. Such a device may still be refused: it has a taint, or its card is taken in
   * the other way.
   */
  boolean isOneOfAll(Device device, DeviceAsk ask, Account account) {
    return notSelected(device, ask).isEmpty() && accessed(consuming(device, ask), ask) instanceof Fit.Fits fits
        && hasCapacity(fits, account);
  }

  /** Whether what it takes is not more than shares have left. */
  public static boolean hasCapacity(Fit.Fits fits, Account account) {
    return !(now(fits, account) instanceof Fit.Refused(CardRefusal why))
        || !(why instanceof CardRefusal.MemoryTaken || why instanceof CardRefusal.CoresTaken);
  }

  private Optional<CardRefusal> notSelected(Device device, DeviceAsk ask) {
    for (Selector selector : ask.selectors()) {
      Optional<CardRefusal> refusal =
          switch (selectors.evaluate(selector.expression(), device)) {
            case Verdict.Matches matches -> Optional.empty();
            case Verdict.Differs differs -> Optional.of(difference(device, selector));
            case Verdict.Failed(String error) -> Optional.of(new CardRefusal.SelectorFailed(selector.origin(), error));
          };
      if (refusal.isPresent()) {
        return refusal;
      }
    }
    return notChosen(device.card(), ask.placement());
  }

  private static Optional<CardRefusal> notChosen(Card card, Placement placement) {
    String model = card.model();
    String uuid = card.gpu().uuid();
    if (!placement.models().chooses(model)) {
      return Optional.of(new CardRefusal.OtherModel(model, String.join(" or ", placement.models().choose())));
    }
    if (placement.models().avoids(model)) {
      return Optional.of(new CardRefusal.AvoidedModel(model));
    }
    if (!placement.uuids().chooses(uuid)) {
      return Optional.of(new CardRefusal.OtherCard());
    }
    return placement.uuids().avoids(uuid) ? Optional.of(new CardRefusal.AvoidedCard()) : Optional.empty();
  }

  private static Fit consuming(Device device, DeviceAsk ask) {
    return switch (device.mode()) {
      case SHARED -> share(device, ask);
      case WHOLE, MIG -> undivided(device, ask);
    };
  }

  /** Whether it can with the card as the account says. */
  public static Fit now(Fit inPrinciple, Account account) {
    return switch (inPrinciple) {
      case Fit.Refused refused -> refused;
      case Fit.Fits fits -> {
        Optional<CardRefusal> refusal = busy(fits, account);
        yield refusal.isPresent() ? new Fit.Refused(refusal.get()) : fits;
      }
    };
  }

  private static Optional<CardRefusal> busy(Fit.Fits fits, Account account) {
    if (fits.isMonitor()) {
      return Optional.empty();
    }
    if (account.wholes() > 0) {
      return Optional.of(new CardRefusal.TakenWhole());
    }
    if (fits.device().name() instanceof DeviceName.Mig mig) {
      return account.shares() > 0
          ? Optional.of(new CardRefusal.SharesInTheWay(account.shares()))
          : inTheWay(mig, fits.device().card(), account);
    }
    if (!account.instances().isEmpty()) {
      return Optional.of(new CardRefusal.CutIntoInstances(account.instances().size()));
    }
    if (fits.mode() == DeviceMode.WHOLE) {
      return account.shares() > 0 ? Optional.of(new CardRefusal.HasShares(account.shares())) : Optional.empty();
    }
    long freeMemory = Math.max(0, fits.device().card().sellableMemory() - account.memory());
    if (fits.memory() > freeMemory) {
      return Optional.of(new CardRefusal.MemoryTaken(freeMemory, fits.memory()));
    }
    int freeCores = Math.max(0, (int) total(fits.device(), CapacityName.CORES) - account.cores());
    if (fits.cores() > freeCores) {
      return Optional.of(new CardRefusal.CoresTaken(freeCores, fits.cores()));
    }
    return Optional.empty();
  }

  private static Optional<CardRefusal> inTheWay(DeviceName.Mig wanted, Card card, Account account) {
    MigGeometry geometry = card.mig();
    int own = geometry.slices(wanted.slot());
    SortedSet<MigSlot> others = new TreeSet<>();
    for (MigSlot instance : account.instances()) {
      if ((geometry.slices(instance) & own) != 0) {
        others.add(instance);
      }
    }
    Optional<MigGeometry.Kind> kind = geometry.kind(wanted.slot());
    String profile = kind.map(k -> k.profile().name()).orElse(wanted.slot().profile());
    if (!others.isEmpty()) {
      return Optional.of(new CardRefusal.PlacementsOverlap(card.key().index(), profile,
          new TreeSet<>(List.of(wanted.slot().start())), others));
    }
    return kind.filter(k -> MigGeometry.same(k, account.instances()) >= k.profile().count())
        .map(k -> new CardRefusal.NoMoreOfProfile(profile, k.profile().count()));
  }

  /** A card as a whole, or a MIG instance: nothing of it is left for others. */
  private static Fit undivided(Device device, DeviceAsk ask) {
    if (ask.cores().isPresent()) {
      return new Fit.Refused(new CardRefusal.NoSuchCapacity(device.mode(), CapacityName.CORES));
    }
    long memory = total(device, CapacityName.MEMORY);
    if (ask.memory() instanceof MemoryRequest.Percent) {
      return new Fit.Refused(new CardRefusal.NoSuchCapacity(device.mode(), "memoryPercent"));
    }
    if (ask.oversubscribe() != GpuShareConfig.NOT_OVERSUBSCRIBED) {
      return new Fit.Refused(new CardRefusal.NotOversubscribed(device.mode()));
    }
    if (ask.placement().exclusive() && !SharingStrategy.canBeExclusive(device.mode())) {
      return new Fit.Refused(new CardRefusal.NotExclusive());
    }
    if (ask.memory() instanceof MemoryRequest.Bytes(long asked) && asked > memory) {
      return new Fit.Refused(new CardRefusal.TooSmall(memory, asked, device.card().model()));
    }
    return new Fit.Fits(device, 0, 0);
  }

  private static Fit share(Device device, DeviceAsk ask) {
    long offered = total(device, CapacityName.MEMORY);
    OptionalLong asked = ask.memory().bytesOf(offered);
    OptionalLong memory = consumed(device, CapacityName.MEMORY, asked);
    if (memory.isEmpty()) {
      return new Fit.Refused(new CardRefusal.TooSmall(offered, asked.orElseThrow(), device.card().model()));
    }
    OptionalLong cores = consumed(device, CapacityName.CORES, ask.cores());
    if (cores.isEmpty()) {
      return new Fit.Refused(new CardRefusal.TooManyCores(ask.cores().orElseThrow()));
    }
    Fit.Taking taking = ask.placement().exclusive() ? Fit.Taking.THE_CARD : Fit.Taking.ITS_PART;
    return new Fit.Fits(device, memory.getAsLong(), Math.toIntExact(cores.getAsLong()), taking);
  }

  private static OptionalLong consumed(Device device, String capacity, OptionalLong asked) {
    Capacity offered = Objects.requireNonNull(device.capacities().get(capacity), capacity);
    Capacity.RequestPolicy policy = offered.policy().orElseThrow();
    return asked.isEmpty() ? OptionalLong.of(policy.whenNotAsked()) : policy.consumed(asked.getAsLong());
  }

  private static long total(Device device, String capacity) {
    return Objects.requireNonNull(device.capacities().get(capacity), capacity).total();
  }

  /** Says it by mode or model where the expression is about these. */
  private static CardRefusal difference(Device device, Selector selector) {
    for (DeviceMode mode : DeviceMode.values()) {
      boolean asked = selector.expression().contains("\"" + mode.attributeValue() + "\"");
      if (asked && mode != device.mode()
          && !selector.expression().contains("\"" + device.mode().attributeValue() + "\"")) {
        return new CardRefusal.OtherMode(mode.attributeValue());
      }
    }
    Matcher model = MODEL_ASKED.matcher(selector.expression());
    if (model.find()) {
      String asked = model.group(1);
      String has = device.attribute(DeviceAttribute.MODEL).map(AttributeValue::toString).orElse("unknown");
      if (!asked.equals(has)) {
        return new CardRefusal.OtherModel(has, asked);
      }
    }
    return new CardRefusal.NotSelected(selector.origin(), selector.expression());
  }

  /** Devices that a request for all means, of a card either one or MIG instances: it must have every one. */
  public int devicesOfAll(GpuHost host, DeviceAsk ask, Accounts accounts) {
    Set<CardKey> undivided = new HashSet<>();
    Map<CardKey, Integer> instances = new HashMap<>();
    for (Device device : host.devices()) {
      CardKey card = device.card().key();
      if (!isOneOfAll(device, ask, accounts.of(card))) {
        continue;
      }
      if (device.mode() == DeviceMode.MIG) {
        instances.merge(card, 1, Integer::sum);
      } else {
        undivided.add(card);
      }
    }
    instances.keySet().removeAll(undivided);
    return undivided.size() + instances.values().stream().mapToInt(Integer::intValue).sum();
  }
}
