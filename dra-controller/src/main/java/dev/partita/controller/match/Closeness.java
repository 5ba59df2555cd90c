package dev.partita.controller.match;

/** How close a card came to serving a request: the further down this list, the closer. */
public enum Closeness {
  /** Nothing of the card is offered to anybody. */
  NOT_OFFERED,
  /** The card is offered, but not in the mode that is asked for. */
  OTHER_MODE,
  /** The card is of a model that is not asked for. */
  OTHER_MODEL,
  /** The card itself is not asked for, by its UUID or by selectors. */
  NOT_CHOSEN,
  /** Nobody can say whether the selectors choose the card. */
  SELECTOR_FAILED,
  /** What is asked for does not go together with the mode in which the card is offered. */
  NOT_IN_THIS_MODE,
  /** More cores are asked for than any card has. */
  TOO_FEW_CORES,
  /** More memory is asked for than the card has. */
  TOO_SMALL,
  /** The card would do if it had no taint, or the claim tolerated it. */
  TAINTED,
  /** Somebody has the whole card. */
  TAKEN_WHOLE,
  /** Others have parts of the card in a way that excludes what is asked for. */
  TAKEN_OTHERWISE,
  /** Others have parts of the card in a way that allows what is asked for, but too little is left. */
  TAKEN_IN_PART,
  /** The same, and all that lacks is cores, or instances of one profile. */
  TAKEN_ALMOST;

  /** Whether the card would do if nobody had anything of it. */
  boolean isTaken() {
    return compareTo(TAKEN_WHOLE) >= 0;
  }

  /** Whether the card may do later: what speaks against it can pass. */
  public boolean mayPass() {
    return compareTo(TAINTED) >= 0;
  }
}
