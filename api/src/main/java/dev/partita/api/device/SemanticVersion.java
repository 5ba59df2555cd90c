package dev.partita.api.device;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A version as semver.org 2.0.0 has it; build metadata is not kept, for it does not count in comparisons.
 *
 * @param preRelease dot-separated identifiers, or empty
 */
public record SemanticVersion(BigInteger major, BigInteger minor, BigInteger patch, String preRelease)
    implements Comparable<SemanticVersion> {
  private static final int LONGEST = 256;

  /** Bits of the largest number: 64, as Kubernetes reads versions (github.com/blang/semver/v4). */
  private static final int NUMBER_BITS = 64;

  private static final String NUMBER = "(0|[1-9]\\d*+)";
  private static final Pattern STRICT =
      Pattern.compile(
          NUMBER + "\\." + NUMBER + "\\." + NUMBER + "(?:-([0-9A-Za-z.-]++))?(?:\\+([0-9A-Za-z.-]++))?");
  private static final Pattern DIGITS = Pattern.compile("\\d++");
  private static final Pattern LEADING_ZEROS = Pattern.compile("^0+(?=\\d)");
  private static final Pattern IDENTIFIER = Pattern.compile("[0-9A-Za-z-]++");
  private static final Pattern LOOSE = Pattern.compile("v?(\\d{1,18})(?:\\.(\\d{1,18}))?(?:\\.(\\d{1,18}))?(?:\\D.*)?");

  /** Reads a version that keeps to semver's letter, of 256 characters at most; empty otherwise. */
  public static Optional<SemanticVersion> parse(String text) {
    Matcher form = STRICT.matcher(text);
    if (text.length() > LONGEST || !form.matches()) {
      return Optional.empty();
    }
    SemanticVersion version =
        new SemanticVersion(number(form, 1), number(form, 2), number(form, 3),
            Objects.requireNonNullElse(form.group(4), ""));
    boolean small = Stream.of(version.major, version.minor, version.patch).allMatch(SemanticVersion::isSmall);
    return small && arePreRelease(form.group(4)) && areBuild(form.group(5)) ? Optional.of(version) : Optional.empty();
  }

  /**
   * Reads a version as Kubernetes' {@code semver(text, true)} does (k8s.io/apiserver/pkg/cel/library, semverlib.go): a
   * {@code v} before it and leading zeros of its three numbers are dropped, and numbers that are missing are 0, which
   * only a version without pre-release and build metadata may lack. Empty if the rest is no version.
   */
  public static Optional<SemanticVersion> parseNormalised(String text) {
    if (text.length() > LONGEST) {
      return Optional.empty();
    }
    String[] parts = (text.startsWith("v") ? text.substring(1) : text).split("\\.", 3);
    String last = parts[parts.length - 1];
    if (parts.length < 3 && (last.contains("+") || last.contains("-"))) {
      return Optional.empty();
    }
    String[] filled = {"0", "0", "0"};
    for (int i = 0; i < parts.length; i++) {
      filled[i] = LEADING_ZEROS.matcher(parts[i]).replaceFirst("");
    }
    return parse(String.join(".", filled));
  }

  /**
   * The version that a vendor's spelling means: missing parts are 0, leading zeros and whatever follows the third
   * number are dropped, so that 580.95.05 gives 580.95.5 and 13.0 gives 13.0.0. Empty if it does not begin with a
   * number.
   */
  public static Optional<SemanticVersion> ofVendor(String text) {
    Matcher form = LOOSE.matcher(text);
    return form.matches()
        ? Optional.of(new SemanticVersion(number(form, 1), number(form, 2), number(form, 3), ""))
        : Optional.empty();
  }

  private static BigInteger number(Matcher form, int group) {
    String digits = form.group(group);
    return digits == null ? BigInteger.ZERO : new BigInteger(digits);
  }

  private static boolean isSmall(BigInteger number) {
    return number.bitLength() <= NUMBER_BITS;
  }

  private static boolean arePreRelease(@Nullable String identifiers) {
    return identifiers == null || identifiers(identifiers).allMatch(
        one -> DIGITS.matcher(one).matches()
            ? (one.length() == 1 || one.charAt(0) != '0') && isSmall(new BigInteger(one))
            : IDENTIFIER.matcher(one).matches());
  }

  private static boolean areBuild(@Nullable String identifiers) {
    return identifiers == null || identifiers(identifiers).allMatch(one -> IDENTIFIER.matcher(one).matches());
  }

  private static Stream<String> identifiers(String text) {
    return Arrays.stream(text.split("\\.", -1));
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
