package dev.partita.controller.match;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.selector.Verdict;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Judges devices one by one: whether the selectors match, whether the capacities are enough, whether taints keep off,
 * and whether enough is free.
 */
public final class Eligibility {
  private static final Pattern MODEL_ASKED = Pattern.compile("\\.model\\s*==\\s*[\"']([^\"']+)[\"']");

  private final DeviceSelectors selectors;

  public Eligibility(DeviceSelectors selectors) {
    this.selectors = selectors;
  }

  /** Whether the device could serve the request if its card were empty. */
  public MatchResult inPrinciple(Device device, DeviceRequest request) {
    Optional<CardRefusal> refusal = notSelected(device, request);
    if (refusal.isPresent()) {
      return new MatchResult.Refused(refusal.get());
    }
    for (Device.Taint taint : device.taints()) {
      if (request.tolerations().stream().noneMatch(toleration -> toleration.covers(taint))) {
        return new MatchResult.Refused(new CardRefusal.Tainted(taint));
      }
    }
    return match(device, request);
  }

  private static MatchResult match(Device device, DeviceRequest request) {
    return CardUse.of(request.strategy(device.name())).match(device, request);
  }

  /**
   * Whether a request for all devices includes this one: it is selected, and has the capacity that is asked for, in so
   * far as shares have left it. Such a device may still be refused, for it has a taint or its card is taken in another
   * way.
   */
  boolean isOneOfAll(Device device, DeviceRequest request, Account account) {
    return notSelected(device, request).isEmpty() && match(device, request) instanceof Match match
        && hasCapacity(match, account);
  }

  /** Whether shares have left as much as it takes. */
  public static boolean hasCapacity(Match match, Account account) {
    return !(now(match, account) instanceof MatchResult.Refused(CardRefusal why))
        || !(why instanceof CardRefusal.MemoryTaken || why instanceof CardRefusal.CoresTaken);
  }

  private Optional<CardRefusal> notSelected(Device device, DeviceRequest request) {
    for (Selector selector : request.selectors()) {
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
    return notChosen(device.card(), request.placement());
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

  /** The same result, or the refusal if the card, with what the account says is taken of it, cannot. */
  public static MatchResult now(MatchResult inPrinciple, Account account) {
    return switch (inPrinciple) {
      case MatchResult.Refused refused -> refused;
      case Match match -> {
        Optional<CardRefusal> refusal = match.use().clash(match, account);
        yield refusal.isPresent() ? new MatchResult.Refused(refusal.get()) : match;
      }
    };
  }

  /** Names the mode or the model, if the expression is about these. */
  private static CardRefusal difference(Device device, Selector selector) {
    for (DeviceMode mode : DeviceMode.values()) {
      boolean asked = selector.expression().contains("\"" + mode.attributeValue() + "\"");
      if (asked && mode != device.mode()
          && !selector.expression().contains("\"" + device.mode().attributeValue() + "\"")) {
        return device.card().gpu().isCutByHand() && mode != DeviceMode.MIG_SHARED
            ? new CardRefusal.CutByHand(mode.attributeValue())
            : new CardRefusal.OtherMode(mode.attributeValue());
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

  /** How many devices a request for all must have: of each card one, or all of its MIG instances. */
  public int devicesOfAll(GpuHost host, DeviceRequest request, Accounts accounts) {
    Set<CardKey> undivided = new HashSet<>();
    Map<CardKey, Integer> instances = new HashMap<>();
    for (Device device : host.devices()) {
      CardKey card = device.card().key();
      if (!isOneOfAll(device, request, accounts.of(card))) {
        continue;
      }
      if (device.mode().isOfInstances()) {
        instances.merge(card, 1, Integer::sum);
      } else {
        undivided.add(card);
      }
    }
    instances.keySet().removeAll(undivided);
    return undivided.size() + instances.values().stream().mapToInt(Integer::intValue).sum();
  }
}
