package dev.partita.cli.checkout;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.InstantSource;

/** Says what is being done, a line a step with the seconds since the start. Safe for use by several threads. */
public final class Progress {
  private final PrintWriter out;
  private final InstantSource clock;
  private final java.time.Instant start;

  public Progress(PrintWriter out, InstantSource clock) {
    this.out = out;
    this.clock = clock;
    this.start = clock.instant();
  }

  public void step(String what) {
    out.printf("partita: %3ds  %s%n", Duration.between(start, clock.instant()).toSeconds(), what);
    out.flush();
  }
}
