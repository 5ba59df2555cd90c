package dev.partita.controller.selector.values;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An address of IPv4 or IPv6, as CEL's {@code ip()} has it: without zone, and no IPv4 address in the clothes of IPv6.
 */
public record IpAddress(InetAddress address) {
  private static final String OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  private static final Pattern V4 = Pattern.compile(OCTET + "(?:\\." + OCTET + "){3}");
  private static final Pattern V6_LETTERS = Pattern.compile("[0-9A-Fa-f:.]{2,45}");
  private static final int GROUPS = 8;

  /** Empty if the text is none. Nothing is ever looked up. */
  public static Optional<IpAddress> parse(String text) {
    try {
      if (V4.matcher(text).matches()) {
        return Optional.of(new IpAddress(Inet4Address.ofLiteral(text)));
      }
      if (text.contains(":") && V6_LETTERS.matcher(text).matches()
          && Inet6Address.ofLiteral(text) instanceof Inet6Address address) {
        return Optional.of(new IpAddress(address));
      }
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** 4 or 6. */
  public int family() {
    return address instanceof Inet4Address ? 4 : 6;
  }

  /** Bits of an address of its family. */
  public int bits() {
    return address.getAddress().length * Byte.SIZE;
  }

  public boolean isGlobalUnicast() {
    boolean broadcast = family() == 4 && toString().equals("255.255.255.255");
    return !broadcast
        && !address.isAnyLocalAddress()
        && !address.isLoopbackAddress()
        && !address.isMulticastAddress()
        && !address.isLinkLocalAddress();
  }

  /** In canonical form, for IPv6 that of RFC 5952. */
  @Override
  public String toString() {
    if (family() == 4) {
      return address.getHostAddress();
    }
    byte[] bytes = address.getAddress();
    int[] groups = new int[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
      groups[i] = Byte.toUnsignedInt(bytes[2 * i]) << Byte.SIZE | Byte.toUnsignedInt(bytes[2 * i + 1]);
    }
    int start = -1;
    int length = 1; // a single group of zeros is written out
    for (int i = 0; i < GROUPS; i++) {
      int zeros = 0;
      while (i + zeros < GROUPS && groups[i + zeros] == 0) {
        zeros++;
      }
      if (zeros > length) {
        start = i;
        length = zeros;
      }
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < GROUPS; i++) {
      if (i == start) {
        text.append("::");
        i += length - 1;
        continue;
      }
      if (!text.isEmpty() && text.charAt(text.length() - 1) != ':') {
        text.append(':');
      }
      text.append(Integer.toHexString(groups[i]));
    }
    return text.toString();
  }
}
