package dev.partita.api.device;

import java.math.BigInteger;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A version as semver.org 2.0.0 has it; build metadata is not kept, for it does not count in comparisons.
 *
 * @param preRelease dot-separated identifiers, or empty
 */
public record SemanticVersion(BigInteger major, BigInteger minor, BigInteger patch, String preRelease)
    implements Comparable<SemanticVersion> {
  private static final String NUMBER = "(0|[1-9]\\d*)";
  private static final Pattern STRICT =
      Pattern.compile(
          NUMBER + "\\." + NUMBER + "\\." + NUMBER
              + "(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+[0-9A-Za-z.-]+)?");
  private static final Pattern LOOSE = Pattern.compile("v?(\\d{1,18})(?:\\.(\\d{1,18}))?(?:\\.(\\d{1,18}))?(?:\\D.*)?");

  /** Reads a version that keeps to semver's letter; empty otherwise. */
  public static Optional<SemanticVersion> parse(String text) {
    Matcher form = STRICT.matcher(text);
    if (text.length() > 256 || !form.matches()) {
      return Optional.empty();
    }
    String preRelease = form.group(4);
    return Optional.of(
        new SemanticVersion(
            new BigInteger(form.group(1)),
            new BigInteger(form.group(2)),
            new BigInteger(form.group(3)),
            preRelease == null ? "" : preRelease));
  }

  /**
   * The version that a vendor's spelling means: missing parts are 0, leading zeros and whatever follows the third
   * number are dropped, so that 580.95.05 gives 580.95.5 and 13.0 gives 13.0.0. Empty if it does not begin with a
   * number.
   */
  public static Optional<SemanticVersion> normalise(String text) {
    Matcher form = LOOSE.matcher(text);
    return form.matches()
        ? Optional.of(new SemanticVersion(number(form, 1), number(form, 2), number(form, 3), ""))
        : Optional.empty();
  }

  private static BigInteger number(Matcher form, int group) {
    String digits = form.group(group);
    return digits == null ? BigInteger.ZERO : new BigInteger(digits);
  }

  @Override
  public int compareTo(SemanticVersion other) {
    int order = major.compareTo(other.major);
    order = order != 0 ? order : minor.compareTo(other.minor);
    order = order != 0 ? order : patch.compareTo(other.patch);
    return order != 0 ? order : comparePreRelease(preRelease, other.preRelease);
  }

  private static int comparePreRelease(String left, String right) {
    if (left.isEmpty() || right.isEmpty()) {
      return Boolean.compare(left.isEmpty(), right.isEmpty()); // a release comes after its pre-releases
    }
    String[] a = left.split("\\.", -1);
    String[] b = right.split("\\.", -1);
    for (int i = 0; i < Math.min(a.length, b.length); i++) {
      boolean numericA = a[i].chars().allMatch(Character::isDigit);
      boolean numericB = b[i].chars().allMatch(Character::isDigit);
      int order =
          numericA && numericB
              ? new BigInteger(a[i]).compareTo(new BigInteger(b[i]))
              : numericA != numericB ? Boolean.compare(numericB, numericA) : a[i].compareTo(b[i]);
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(a.length, b.length);
  }

  @Override
  public String toString() {
    return major + "." + minor + "." + patch + (preRelease.isEmpty() ? "" : "-" + preRelease);
  }
}
