package dev.partita.controller.allocate;

import dev.partita.api.DeviceAttribute;
import dev.partita.api.DeviceMode;
import dev.partita.controller.allocate.DeviceAsk.Selector;
import dev.partita.controller.inventory.AttributeValue;
import dev.partita.controller.inventory.Capacity;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.selector.Verdict;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Judges devices one by one: selectors, capacities, taints, and what is free. */
final class Eligibility {
  private static final Pattern MODEL_ASKED = Pattern.compile("\\.model\\s*==\\s*[\"']([^\"']+)[\"']");

  private final DeviceSelectors selectors;

  Eligibility(DeviceSelectors selectors) {
    this.selectors = selectors;
  }

  /** Whether the device could serve the ask if its card were empty. */
  Fit inPrinciple(Device device, DeviceAsk ask) {
    for (Selector selector : ask.selectors()) {
      Optional<CardRefusal> refusal =
          switch (selectors.evaluate(selector.expression(), device)) {
            case Verdict.Matches matches -> Optional.empty();
            case Verdict.Differs differs -> Optional.of(difference(device, selector));
            case Verdict.Failed(String error) -> Optional.of(new CardRefusal.SelectorFailed(selector.origin(), error));
          };
      if (refusal.isPresent()) {
        return new Fit.Refused(refusal.get());
      }
    }
    for (Device.Taint taint : device.taints()) {
      if (ask.tolerations().stream().noneMatch(toleration -> toleration.covers(taint))) {
        return new Fit.Refused(new CardRefusal.Tainted(taint.key(), taint.value()));
      }
    }
    return switch (device.mode()) {
      case WHOLE -> whole(device, ask);
      case SHARED -> share(device, ask);
    };
  }

  /** Whether it can with the card as the account says. */
  static Fit now(Fit inPrinciple, Account account) {
    return switch (inPrinciple) {
      case Fit.Refused refused -> refused;
      case Fit.Fits fits -> {
        Optional<CardRefusal> refusal = busy(fits, account);
        yield refusal.isPresent() ? new Fit.Refused(refusal.get()) : fits;
      }
    };
  }

  private static Optional<CardRefusal> busy(Fit.Fits fits, Account account) {
    if (account.wholes() > 0) {
      return Optional.of(new CardRefusal.TakenWhole());
    }
    if (fits.device().mode() == DeviceMode.WHOLE) {
      return account.shares() > 0 ? Optional.of(new CardRefusal.HasShares(account.shares())) : Optional.empty();
    }
    long freeMemory = Math.max(0, fits.device().card().sellableMemory() - account.memory());
    if (fits.memory() > freeMemory) {
      return Optional.of(new CardRefusal.MemoryTaken(freeMemory, fits.memory()));
    }
    int freeCores = Math.max(0, (int) total(fits.device(), DeviceAttribute.CORES) - account.cores());
    if (fits.cores() > freeCores) {
      return Optional.of(new CardRefusal.CoresTaken(freeCores, fits.cores()));
    }
    return Optional.empty();
  }

  private static Fit whole(Device device, DeviceAsk ask) {
    if (ask.cores().isPresent()) {
      return new Fit.Refused(new CardRefusal.NoSuchCapacity(DeviceAttribute.CORES));
    }
    long memory = total(device, DeviceAttribute.MEMORY);
    if (ask.memory().isPresent() && ask.memory().getAsLong() > memory) {
      return new Fit.Refused(new CardRefusal.TooSmall(memory, ask.memory().getAsLong(), device.card().model()));
    }
    return new Fit.Fits(device, 0, 0);
  }

  private static Fit share(Device device, DeviceAsk ask) {
    OptionalLong memory = consumed(device, DeviceAttribute.MEMORY, ask.memory());
    if (memory.isEmpty()) {
      long asked = ask.memory().orElseThrow();
      return new Fit.Refused(new CardRefusal.TooSmall(total(device, DeviceAttribute.MEMORY), asked, device.card().model()));
    }
    OptionalLong cores = consumed(device, DeviceAttribute.CORES, ask.cores());
    if (cores.isEmpty()) {
      return new Fit.Refused(new CardRefusal.TooManyCores(ask.cores().orElseThrow()));
    }
    return new Fit.Fits(device, memory.getAsLong(), Math.toIntExact(cores.getAsLong()));
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
      if (asked && mode != device.mode() && !selector.expression().contains("\"" + device.mode().attributeValue() + "\"")) {
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
}
