package dev.partita.cli.rightsizing;

import dev.partita.cli.command.SpanConverter;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Which shares hold too much, and how much they should hold: a mixin of the commands that judge shares. */
public final class SizingOptions {
  @Option(names = "--min-age", paramLabel = "SPAN", defaultValue = "1h", converter = SpanConverter.class,
      description = "How long ago a claim must have been allocated, such as 30m or 7d. Default: ${DEFAULT-VALUE}.") private Duration minAge =
          Duration.ZERO;

  @Option(names = "--below", paramLabel = "PERCENT", defaultValue = "60",
      description = "A peak below so many percent of what is held is far below it. Default: ${DEFAULT-VALUE}.") private int below;

  @Option(names = "--headroom", paramLabel = "PERCENT", defaultValue = "25",
      description = "What a proposed size has beyond the peak, in percent of the peak. Default: ${DEFAULT-VALUE}.") private int headroom;

  /** The rule. */
  public SizingRule rule() {
    return new SizingRule(minAge, below, headroom);
  }
}
