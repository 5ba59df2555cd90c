package dev.partita.api;

import java.util.regex.Pattern;

/**
 * Names as RFC 1123 has them and the API server lets objects have: what is one can be part of a path, since it holds no
 * slash and is neither {@code .} nor {@code ..}.
 */
public final class DnsName {
  static final int LONGEST_LABEL = 63;
  private static final int LONGEST_SUBDOMAIN = 253;
  private static final String LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
  private static final Pattern LABELS = Pattern.compile(LABEL);
  private static final Pattern SUBDOMAINS = Pattern.compile(LABEL + "(\\." + LABEL + ")*");

  private DnsName() {}

  /** Whether it is a label, as names of namespaces and of a claim's requests are: 63 characters at most, no dot. */
  public static boolean isLabel(String text) {
    return text.length() <= LONGEST_LABEL && LABELS.matcher(text).matches();
  }

  /** Whether it is labels with dots between, as names of claims and nodes are: 253 characters at most. */
  public static boolean isSubdomain(String text) {
    return text.length() <= LONGEST_SUBDOMAIN && SUBDOMAINS.matcher(text).matches();
  }
}
