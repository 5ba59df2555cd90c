package dev.partita.controller.selector.values;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A network in CIDR notation, as CEL's {@code cidr()} has it: bits beyond the prefix are kept.
 *
 * @param prefix length in bits
 */
public record Cidr(IpAddress address, int prefix) {
  private static final Pattern FORM = Pattern.compile("([^/]+)/(0|[1-9][0-9]{0,2})");

  /** Empty if the text is none. */
  public static Optional<Cidr> parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    int prefix = Integer.parseInt(parts.group(2));
    return IpAddress.parse(parts.group(1)).filter(address -> prefix <= address.bits())
        .map(address -> new Cidr(address, prefix));
  }

  public Cidr masked() {
    byte[] bytes = address.address().getAddress();
    for (int i = 0; i < bytes.length; i++) {
      int kept = Math.clamp(prefix - (long) i * Byte.SIZE, 0, Byte.SIZE);
      bytes[i] &= (byte) (0xff << (Byte.SIZE - kept));
    }
    try {
      return new Cidr(new IpAddress(InetAddress.getByAddress(bytes)), prefix);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address keeps its length", e);
    }
  }

  public boolean contains(IpAddress other) {
    return other.family() == address.family() && new Cidr(other, prefix).masked().equals(masked());
  }

  public boolean contains(Cidr other) {
    return prefix <= other.prefix && contains(other.address);
  }

  @Override
  public String toString() {
    return address + "/" + prefix;
  }
}
