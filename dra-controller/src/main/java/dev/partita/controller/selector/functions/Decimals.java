package dev.partita.controller.selector.functions;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** Floating-point numbers as Kubernetes' CEL formats them: in the way of American English. */
final class Decimals {
  /** Digits that a formatted number may have behind its point, or characters that it may at least have. */
  static final int MOST = 1_000_000;

  /** No double has more digits behind its point. */
  private static final int DIGITS_OF_A_DOUBLE = 1_100;

  private static final MathContext SIX_DIGITS = new MathContext(7, RoundingMode.HALF_EVEN);
  private static final String SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  private Decimals() {}

  /** With so many digits behind the point, and commas between thousands. */
  static String fixed(double number, int digits) {
    if (!Double.isFinite(number)) {
      return notFinite(number);
    }
    int known = Math.min(digits, DIGITS_OF_A_DOUBLE);
    String plain = new BigDecimal(Math.abs(number)).setScale(known, RoundingMode.HALF_EVEN).toPlainString();
    int point = known == 0 ? plain.length() : plain.indexOf('.');
    StringBuilder text = new StringBuilder(plain).append("0".repeat(digits - known));
    for (int comma = point - 3; comma > 0; comma -= 3) {
      text.insert(comma, ',');
    }
    return (number < 0 ? "-" : "") + text;
  }

  /**
   * With six digits behind the point and the power of ten: 1.500000×10⁰³.
   *
   * @param width least number of characters; blanks fill up. (It is what the precision of a %e comes to in cel-go 0.26,
   *        which Kubernetes 1.36 has.)
   */
  static String scientific(double number, int width) {
    String text = Double.isFinite(number) ? powerOfTen(number) : notFinite(number);
    return " ".repeat(Math.max(0, width - text.length())) + text;
  }

  private static String powerOfTen(double number) {
    BigDecimal rounded = new BigDecimal(Math.abs(number)).round(SIX_DIGITS);
    int exponent = rounded.signum() == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
    StringBuilder text = new StringBuilder(number < 0 ? "-" : "");
    text.append(rounded.movePointLeft(exponent).setScale(6, RoundingMode.UNNECESSARY).toPlainString()).append("×10")
        .append(exponent < 0 ? "⁻" : "");
    String.format(Locale.ROOT, "%02d", Math.abs(exponent)).chars()
        .forEach(digit -> text.append(SUPERSCRIPTS.charAt(digit - '0')));
    return text.toString();
  }

  private static String notFinite(double number) {
    return Double.isNaN(number) ? "NaN" : number > 0 ? "∞" : "-∞";
  }
}
