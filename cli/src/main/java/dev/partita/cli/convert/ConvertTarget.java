package dev.partita.cli.convert;

import java.util.Locale;

/** What converted objects ask; the constants are spelt as a user writes them. */
enum ConvertTarget {
  /** Us, whatever they asked before. */
  PARTITA,
  /** NVIDIA's DRA driver, in the place of us. */
  NVIDIA_DRA;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
