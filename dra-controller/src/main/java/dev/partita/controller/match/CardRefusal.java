package dev.partita.controller.match;

import dev.partita.api.Bytes;
import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.request.DeviceRequest;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Why a card cannot serve a request. */
public sealed interface CardRefusal {
  /**
   * Nothing of the card is offered to anybody.
   *
   * @param elsewhere the extended resources as which other device plugins of the node hand it out
   * @param drivers the other DRA drivers by which claims have it
   */
  record NotOffered(List<String> elsewhere, List<String> drivers) implements CardRefusal {
    public NotOffered {
      elsewhere = List.copyOf(elsewhere);
      drivers = List.copyOf(drivers);
    }

    /** Why nothing of this card is offered. */
    public static NotOffered of(Card card) {
      return new NotOffered(card.gpu().servedBy().stream().map(OtherServer::resource).toList(), card.otherDrivers());
    }

    @Override
    public String toString() {
      if (!elsewhere.isEmpty()) {
        return "handed out as " + String.join(" and ", elsewhere)
            + " by another device plugin of its node (servedBy in the GpuNode's status)";
      }
      if (!drivers.isEmpty()) {
        return "other claims have it by the DRA driver " + String.join(" and ", drivers)
            + " (otherDrivers in the GpuNode's status)";
      }
      return "not offered at all (spec.withhold or spec.reservedMemory of the GpuNode)";
    }
  }

  /** The card is not offered in the mode that the request's selectors want. */
  record OtherMode(String asked) implements CardRefusal {
    @Override
    public String toString() {
      return "not offered as " + asked + (asked.equals(DeviceMode.MIG_SHARED.attributeValue())
          ? ": it has no MIG instances that somebody else than Partita made, or spec.publish of the GpuNode lacks"
              + " MigShared"
          : "");
    }
  }

  /** Somebody else than Partita has cut the card into MIG instances, and the request wants it in another mode. */
  record CutByHand(String asked) implements CardRefusal {
    @Override
    public String toString() {
      return "not offered as " + asked
          + ", for MIG instances that Partita did not make are on it (staticMigInstances in"
          + " the GpuNode's status)";
    }
  }

  /** The card is of another model than the one asked for. */
  record OtherModel(String model, String asked) implements CardRefusal {
    @Override
    public String toString() {
      return "model is " + model + ", asked " + asked;
    }
  }

  /** The claim avoids cards of that model. */
  record AvoidedModel(String model) implements CardRefusal {
    @Override
    public String toString() {
      return "model is " + model + ", which the claim avoids";
    }
  }

  /** The claim names cards, and this is none of them. */
  record OtherCard() implements CardRefusal {
    @Override
    public String toString() {
      return "not one of the UUIDs that the claim chooses";
    }
  }

  /** The claim avoids this very card. */
  record AvoidedCard() implements CardRefusal {
    @Override
    public String toString() {
      return "UUID is one that the claim avoids";
    }
  }

  /** A selector does not hold. */
  record NotSelected(String origin, String expression) implements CardRefusal {
    @Override
    public String toString() {
      return "not selected by " + origin + ": " + expression;
    }
  }

  /** A selector cannot be evaluated. */
  record SelectorFailed(String origin, String error) implements CardRefusal {
    @Override
    public String toString() {
      return "selector of " + origin + " failed: " + error;
    }
  }

  /** The device has no such capacity. */
  record NoSuchCapacity(DeviceMode mode, String capacity) implements CardRefusal {
    @Override
    public String toString() {
      return what(mode) + " has no capacity " + capacity + (mode == DeviceMode.MIG_SHARED
          ? ": only its memory is divided; leave " + capacity + " out, or take the whole instance (class "
              + Driver.MIG_CLASS + ")"
          : "");
    }
  }

  /** The request oversubscribes memory, which only a share can. */
  record NotOversubscribed(DeviceMode mode) implements CardRefusal {
    @Override
    public String toString() {
      return what(mode) + " cannot oversubscribe: only a share of a card can";
    }
  }

  /** The request wants a card that nobody else uses, and only a MIG instance of it, or a share of one. */
  record NotExclusive(DeviceMode mode) implements CardRefusal {
    @Override
    public String toString() {
      return what(mode) + " does not keep others off its card: only a share of a card or a whole card can be exclusive";
    }
  }

  /** The card is smaller than what is asked, even when it is empty. */
  record TooSmall(long total, long asked, String model) implements CardRefusal {
    @Override
    public String toString() {
      return "has " + Bytes.words(total) + ", asked " + Bytes.words(asked);
    }
  }

  /** More cores are asked than a card has. */
  record TooManyCores(long asked) implements CardRefusal {
    @Override
    public String toString() {
      return "asked " + asked + " % cores, a card has 100 %";
    }
  }

  /** The card has a taint that the claim does not tolerate. */
  record Tainted(Device.Taint taint) implements CardRefusal {
    @Override
    public String toString() {
      if (taint.isPublished() && taint.key().equals(Driver.CORDON_TAINT)) {
        return "cordoned (spec.cordoned of the GpuNode)";
      }
      return "taint " + taint.key() + (taint.value().isEmpty() ? "" : "=" + taint.value())
          + taint.rule().map(rule -> " of the DeviceTaintRule " + rule).orElse("");
    }
  }

  /** Somebody has the card as a whole. */
  record TakenWhole() implements CardRefusal {
    @Override
    public String toString() {
      return "taken as a whole";
    }
  }

  /** The request wants the whole card, or a share that keeps others off, but the card has shares. */
  record HasShares(int shares) implements CardRefusal {
    @Override
    public String toString() {
      return "the whole card is asked for, but it has " + shares + (shares == 1 ? " share" : " shares");
    }
  }

  /** Others have the card in turn, and nothing holds them to a part of it. */
  record TakenInTurn(int turns) implements CardRefusal {
    @Override
    public String toString() {
      return "shared by time-slicing among " + turns + (turns == 1 ? " device" : " devices")
          + " of claims, whose memory and cores nothing limits";
    }
  }

  /** The request wants the card in turn with others, but shares of it have been promised. */
  record LimitedShares(int shares) implements CardRefusal {
    @Override
    public String toString() {
      return "time-slicing is asked for, which limits nobody, but the card has " + shares
          + (shares == 1 ? " share with limits" : " shares with limits");
    }
  }

  /** As many have the card in turn as may. */
  record NoMoreTurns(int turns) implements CardRefusal {
    @Override
    public String toString() {
      return "shared by time-slicing among " + turns + " devices of claims already, the most that may be";
    }
  }

  /** The request asks for an amount where nothing limits anybody. */
  record NotLimited(String capacity) implements CardRefusal {
    @Override
    public String toString() {
      return "time-slicing limits no " + capacity + ": nobody can be promised an amount";
    }
  }

  /** The request shares cards in another way than by limits, which only a share can. */
  record NotSharable(DeviceMode mode, Sharing sharing) implements CardRefusal {
    @Override
    public String toString() {
      String way = sharing instanceof Sharing.Mps ? "MPS" : "time-slicing";
      return what(mode) + " cannot be shared by " + way + ": only a share of a card can";
    }
  }

  /** The request wants of an opaque card what takes somebody who holds programs to their share. */
  record NotOnOpaque(SharingStrategy.ModeField field) implements CardRefusal {
    @Override
    public String toString() {
      return "an opaque card: " + SharingStrategy.insteadOnOpaque(field);
    }
  }

  /** Others share the card by MPS, and whoever does not would have it in turn with its server. */
  record SharedByMps(int shares) implements CardRefusal {
    @Override
    public String toString() {
      return "shared by MPS among " + shares + (shares == 1 ? " device" : " devices") + " of claims";
    }
  }

  /** The request shares the card by MPS, but there are shares that do not. */
  record SharesNotByMps(int shares) implements CardRefusal {
    @Override
    public String toString() {
      return "MPS is asked for, but the card has " + shares + (shares == 1 ? " share that is" : " shares that are")
          + " not by MPS";
    }
  }

  /** As many share the card by MPS as it serves. */
  record NoMoreByMps(int shares) implements CardRefusal {
    @Override
    public String toString() {
      return "shared by MPS among " + shares + " devices of claims already, the most that it serves";
    }
  }

  /** The request wants a share or the whole of a card that has MIG instances. */
  record CutIntoInstances(int instances) implements CardRefusal {
    @Override
    public String toString() {
      return "has " + instances + (instances == 1 ? " MIG instance" : " MIG instances");
    }
  }

  /** The request wants a MIG instance of a card that has shares. */
  record SharesInTheWay(int shares) implements CardRefusal {
    @Override
    public String toString() {
      return "a MIG instance is asked for, but the card has " + shares + (shares == 1 ? " share" : " shares");
    }
  }

  /** The request wants a MIG instance of which there are shares. */
  record InstanceHasShares(int shares) implements CardRefusal {
    @Override
    public String toString() {
      return "the whole MIG instance is asked for, but it has " + shares + (shares == 1 ? " share" : " shares");
    }
  }

  /**
   * Other instances lie wherever the profile could.
   *
   * @param card the card's index
   * @param profile the profile asked for
   * @param starts first memory slices of its placements that are not free
   * @param others what is in the way
   */
  record PlacementsOverlap(int card, String profile, SortedSet<Integer> starts, SortedSet<MigSlot> others)
      implements CardRefusal {
    public PlacementsOverlap {
      starts = Collections.unmodifiableSortedSet(new TreeSet<>(starts));
      others = Collections.unmodifiableSortedSet(new TreeSet<>(others));
    }

    @Override
    public String toString() {
      String places = starts.stream().map(String::valueOf).collect(Collectors.joining(", "));
      String there =
          others.stream().map(slot -> new DeviceName.Mig(card, slot).toString()).collect(Collectors.joining(", "));
      return (starts.size() == 1 ? "placement " : "placements ") + places + " of " + profile
          + (starts.size() == 1 ? " overlaps " : " overlap ") + there;
    }
  }

  /** There are already as many instances of the profile as there may be at once. */
  record NoMoreOfProfile(String profile, int count) implements CardRefusal {
    @Override
    public String toString() {
      return count + " of " + count + " instances of " + profile + " are taken";
    }
  }

  /** Too little memory is free. */
  record MemoryTaken(long free, long asked) implements CardRefusal {
    @Override
    public String toString() {
      String freeWords = Bytes.words(free);
      String askedWords = Bytes.words(asked);
      return freeWords.equals(askedWords)
          ? free + " bytes free of " + asked + " bytes asked"
          : freeWords + " free of " + askedWords + " asked";
    }
  }

  /** Too few cores are free. */
  record CoresTaken(int free, int asked) implements CardRefusal {
    @Override
    public String toString() {
      return free + " % cores free of " + asked + " % asked";
    }
  }

  /**
   * Something of the card is taken, and some of that the node holds for claims that are gone. Only the node can give it
   * back.
   *
   * @param why what speaks against the card
   * @param claimUids for which claims
   */
  record HeldOnNode(CardRefusal why, List<String> claimUids) implements CardRefusal {
    private static final int MOST_NAMED = 3;

    public HeldOnNode {
      claimUids = List.copyOf(claimUids);
    }

    @Override
    public String toString() {
      String uids = claimUids.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
      int more = claimUids.size() - MOST_NAMED;
      String whose = claimUids.size() == 1 ? "a claim that is gone (UID " : "claims that are gone (UIDs ";
      String end = more > 0 ? " and " + more + " more)" : ")";
      return why + ", of which some is held on the node by " + whose + uids + end;
    }
  }

  /** The same for a card of which the node holds something for these claims. */
  default CardRefusal heldFor(List<String> claimUids) {
    return !claimUids.isEmpty() && !(this instanceof HeldOnNode) && closeness().isTaken()
        ? new HeldOnNode(this, claimUids)
        : this;
  }

  /** How close the card came. */
  default Closeness closeness() {
    return switch (this) {
      case NotOffered _ -> Closeness.NOT_OFFERED;
      case OtherMode _,CutByHand _ -> Closeness.OTHER_MODE;
      case OtherModel _,AvoidedModel _ -> Closeness.OTHER_MODEL;
      case OtherCard _,AvoidedCard _,NotSelected _ -> Closeness.NOT_CHOSEN;
      case SelectorFailed _ -> Closeness.SELECTOR_FAILED;
      case NoSuchCapacity _,NotOversubscribed _,NotExclusive _ -> Closeness.NOT_IN_THIS_MODE;
      case NotLimited _,NotSharable _,NotOnOpaque _ -> Closeness.NOT_IN_THIS_MODE;
      case TooManyCores _ -> Closeness.TOO_FEW_CORES;
      case TooSmall _ -> Closeness.TOO_SMALL;
      case Tainted _ -> Closeness.TAINTED;
      case TakenWhole _ -> Closeness.TAKEN_WHOLE;
      case TakenInTurn _,LimitedShares _,SharedByMps _,SharesNotByMps _ -> Closeness.TAKEN_OTHERWISE;
      case HasShares _,CutIntoInstances _,SharesInTheWay _ -> Closeness.TAKEN_OTHERWISE;
      case PlacementsOverlap _,InstanceHasShares _,MemoryTaken _ -> Closeness.TAKEN_IN_PART;
      case NoMoreTurns _,NoMoreByMps _ -> Closeness.TAKEN_IN_PART;
      case NoMoreOfProfile _,CoresTaken _ -> Closeness.TAKEN_ALMOST;
      case HeldOnNode held -> held.why().closeness();
    };
  }

  private static String what(DeviceMode mode) {
    return switch (mode) {
      case MIG -> "a MIG instance";
      case MIG_SHARED -> "a share of a MIG instance";
      case WHOLE, SHARED -> "a whole card";
    };
  }

  /** What the request wants by its config that no device of that mode can fulfil; empty if that is nothing. */
  static Optional<CardRefusal> unfulfilled(DeviceMode mode, DeviceRequest request) {
    Sharing sharing = request.capacity().sharing();
    return SharingStrategy.unfulfilled(mode, request.oversubscribe(), request.placement(), sharing)
        .map(field -> switch (field) {
          case OVERSUBSCRIBE -> new NotOversubscribed(mode);
          case EXCLUSIVE -> new NotExclusive(mode);
          case SHARING, MEMORY_LIMIT, CORE_LIMIT -> new NotSharable(mode, sharing);
        });
  }

  /**
   * The reason that two devices of one card give together: that of the device that came closer, or all placements of
   * one profile that are not free.
   */
  static CardRefusal together(CardRefusal first, CardRefusal second) {
    if (first instanceof PlacementsOverlap a && second instanceof PlacementsOverlap b
        && a.profile().equals(b.profile())) {
      SortedSet<Integer> starts = new TreeSet<>(a.starts());
      starts.addAll(b.starts());
      SortedSet<MigSlot> others = new TreeSet<>(a.others());
      others.addAll(b.others());
      return new PlacementsOverlap(a.card(), a.profile(), starts, others);
    }
    if (first instanceof TooSmall a && second instanceof TooSmall b) {
      return b.total() > a.total() ? b : a;
    }
    return second.closeness().compareTo(first.closeness()) > 0 ? second : first;
  }
}
