package dev.partita.controller.match;

/** What a claim takes of a card from others. */
public enum Taking {
  /** A part of its memory and cores. */
  SHARE,
  /** The same beside others who take it so, by MPS; nobody else can have anything of the card. */
  MPS,
  /** A MIG instance. */
  INSTANCE,
  /** A part of a MIG instance's memory. */
  INSTANCE_SHARE,
  /** All of it. */
  CARD,
  /** All of it, in turn with others who take it so. */
  TURNS,
  /** Nothing: it is only looked at. */
  NOTHING;

  /** Whether it takes amounts of memory and cores and nothing else: no place on the card, no turn, nothing by MPS. */
  public boolean isAmount() {
    return this == SHARE || this == CARD;
  }
}
