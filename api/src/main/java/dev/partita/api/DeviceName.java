package dev.partita.api;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Name of a device in a pool: which card, and in which way it is handed out. {@code gpu-3} is card 3 as a whole, {@code
 * gpu-3-shared} the same card to take shares of.
 *
 * @param index the card's index on its node, as NVML counts, from 0
 * @param mode how the card is handed out
 */
public record DeviceName(int index, DeviceMode mode) {
  private static final Pattern FORM = Pattern.compile("gpu-(0|[1-9][0-9]{0,3})(-shared)?");

  public DeviceName {
    if (index < 0) {
      throw new IllegalArgumentException("index of a card must not be negative: " + index);
    }
  }

  /** Reads a device's name; empty if it is none of ours. */
  public static Optional<DeviceName> parse(String name) {
    Matcher form = FORM.matcher(name);
    if (!form.matches()) {
      return Optional.empty();
    }
    DeviceMode mode = form.group(2) == null ? DeviceMode.WHOLE : DeviceMode.SHARED;
    return Optional.of(new DeviceName(Integer.parseInt(form.group(1)), mode));
  }

  @Override
  public String toString() {
    return switch (mode) {
      case WHOLE -> "gpu-" + index;
      case SHARED -> "gpu-" + index + "-shared";
    };
  }
}
