package dev.partita.cli.output;

import java.util.Locale;

/** Numbers of things in words. */
public final class Counted {
  private Counted() {}

  /** {@code 1 pod}, {@code 2,000 pods}; of what gets an s when there are several. */
  public static String of(long count, String what) {
    return String.format(Locale.ROOT, "%,d %s%s", count, what, count == 1 ? "" : "s");
  }

  /** Says of pods that they wait: {@code 1 pod waits}. */
  public static String waiting(long pods) {
    return of(pods, "pod") + (pods == 1 ? " waits" : " wait");
  }
}
