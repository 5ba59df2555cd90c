package dev.partita.api;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Which MIG instance of a card: a card has at most one of a profile at a place.
 *
 * @param profile the profile as a DNS label can say it: {@link #labelOf}
 * @param start the first memory slice of its placement, as NVML counts, from 0
 */
public record MigSlot(String profile, int start) implements Comparable<MigSlot> {
  private static final Pattern LABEL = Pattern.compile("[a-z0-9]++(?:-[a-z0-9]++)*+");
  private static final Pattern NOT_A_LABEL = Pattern.compile("[^a-z0-9]+");

  public MigSlot {
    if (!LABEL.matcher(profile).matches()) {
      throw new IllegalArgumentException("not a MIG profile as a device's name says it: \"" + profile + "\"");
    }
    if (start < 0 || start > 99) {
      throw new IllegalArgumentException("a placement begins at a memory slice from 0: " + start);
    }
  }

  /**
   * A profile's name as it stands in names of devices: {@code 1g.18gb} gives {@code 1g-18gb}, {@code 1g.18gb+me} (with
   * media engines) gives {@code 1g-18gb-me}, and {@code 1g.18gb-me} (without) gives {@code 1g-18gb-no-me}.
   */
  public static String labelOf(String profileName) {
    String label = NOT_A_LABEL.matcher(profileName.toLowerCase(Locale.ROOT).replace("-", "-no-")).replaceAll("-");
    return label.replaceAll("^-+|-+$", "");
  }

  /** As the device's name has it behind the card: {@code 1g-18gb-3}. */
  @Override
  public String toString() {
    return profile + "-" + start;
  }

  @Override
  public int compareTo(MigSlot other) {
    int byStart = Integer.compare(start, other.start);
    return byStart != 0 ? byStart : profile.compareTo(other.profile);
  }
}
