package dev.partita.controller.selector;

/** What a selector says of a device. */
public sealed interface Verdict {
  Verdict TRUE = new Matches();
  Verdict FALSE = new Differs();

  /** The selector holds. */
  record Matches() implements Verdict {}

  /** The selector does not hold. */
  record Differs() implements Verdict {}

  /** The selector could not be evaluated. */
  record Failed(String error) implements Verdict {}
}
