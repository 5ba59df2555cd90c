package dev.partita.controller.allocate;

import dev.partita.controller.inventory.Bytes;

/** Why a card cannot serve an ask. The further down this list, the closer the card came. */
public sealed interface CardRefusal {
  /** The card is not offered in the mode that the ask's selectors want. */
  record OtherMode(String asked) implements CardRefusal {
    @Override
    public String toString() {
      return "not offered as " + asked;
    }
  }

  /** The card is of another model than the one asked for. */
  record OtherModel(String model, String asked) implements CardRefusal {
    @Override
    public String toString() {
      return "model is " + model + ", asked " + asked;
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
  record NoSuchCapacity(String capacity) implements CardRefusal {
    @Override
    public String toString() {
      return "a whole card has no capacity " + capacity;
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
  record Tainted(String key, String value) implements CardRefusal {
    @Override
    public String toString() {
      return "taint " + key + (value.isEmpty() ? "" : "=" + value);
    }
  }

  /** Somebody has the card as a whole. */
  record TakenWhole() implements CardRefusal {
    @Override
    public String toString() {
      return "taken as a whole";
    }
  }

  /** The card is asked for as a whole, but has shares. */
  record HasShares(int shares) implements CardRefusal {
    @Override
    public String toString() {
      return "asked whole, has " + shares + (shares == 1 ? " share" : " shares");
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

  /** How close the card came: the larger, the closer. */
  default int closeness() {
    return switch (this) {
      case OtherMode r -> 0;
      case OtherModel r -> 1;
      case NotSelected r -> 2;
      case SelectorFailed r -> 3;
      case NoSuchCapacity r -> 4;
      case TooManyCores r -> 5;
      case TooSmall r -> 6;
      case Tainted r -> 7;
      case TakenWhole r -> 8;
      case HasShares r -> 9;
      case MemoryTaken r -> 10;
      case CoresTaken r -> 11;
    };
  }
}
