package dev.partita.cli.command;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a span of time as kubectl writes ages: {@code 90s}, {@code 30m}, {@code 1h30m}, {@code 7d}. */
public final class SpanConverter implements ITypeConverter<Duration> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,5}d)?((?:\\d{1,6}h)?(?:\\d{1,7}m)?(?:\\d{1,8}s)?)");

  @Override
  public Duration convert(String text) {
    Matcher parts = FORM.matcher(text.toLowerCase(Locale.ROOT));
    if (text.isBlank() || !parts.matches()) {
      throw new TypeConversionException("'" + text + "' is not a span of time such as 30m, 1h30m or 7d");
    }
    String days = parts.group(1) == null ? "" : parts.group(1);
    String time = parts.group(2).isEmpty() ? "" : "T" + parts.group(2);
    return Duration.parse(("P" + days + time).toUpperCase(Locale.ROOT));
  }
}
