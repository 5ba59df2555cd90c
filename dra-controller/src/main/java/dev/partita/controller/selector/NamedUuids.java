package dev.partita.controller.selector;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceAttribute;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the UUIDs in an expression that does nothing but choose devices by UUID: {@code
 * device.attributes["gpu.partita.dev"].uuid == "GPU-…"}, or several of these with {@code ||} between them. An
 * expression in any other form is evaluated on every device.
 */
final class NamedUuids {
  private static final String ATTRIBUTE =
      "device\\.attributes\\[(?:\"" + Pattern.quote(Driver.NAME) + "\"|'" + Pattern.quote(Driver.NAME) + "')\\]\\."
          + DeviceAttribute.UUID.identifier();
  private static final String TERM = "\\s*+" + ATTRIBUTE + "\\s*+==\\s*+(?:\"[^\"\\\\]*+\"|'[^'\\\\]*+')\\s*+";
  private static final Pattern CHOICE = Pattern.compile(TERM + "(?:\\|\\|" + TERM + ")*+");
  private static final Pattern VALUE = Pattern.compile("==\\s*+(?:\"([^\"]*+)\"|'([^']*+)')");

  private NamedUuids() {}

  /** Empty if the expression says anything else. */
  static Optional<Set<String>> in(String expression) {
    if (!CHOICE.matcher(expression).matches()) {
      return Optional.empty();
    }
    Set<String> uuids = new HashSet<>();
    Matcher value = VALUE.matcher(expression);
    while (value.find()) {
      uuids.add(Optional.ofNullable(value.group(1)).orElseGet(() -> value.group(2)));
    }
    return Optional.of(Set.copyOf(uuids));
  }
}
