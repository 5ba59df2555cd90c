package dev.partita.cli.doctor;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A version of Kubernetes or of a container runtime, as far as it matters here. */
record ServerVersion(int major, int minor) implements Comparable<ServerVersion> {
  private static final Pattern FORM = Pattern.compile("\\D{0,20}(\\d{1,4})\\.(\\d{1,4}).*");

  /** The oldest Kubernetes that Partita works with. */
  static final ServerVersion KUBERNETES = new ServerVersion(1, 36);

  /** The oldest containerd. */
  static final ServerVersion CONTAINERD = new ServerVersion(2, 0);

  /** Reads {@code v1.36.2} or {@code containerd://2.1.3}; empty if it is none. */
  static Optional<ServerVersion> parse(String text) {
    Matcher parts = FORM.matcher(text);
    return parts.matches()
        ? Optional.of(new ServerVersion(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2))))
        : Optional.empty();
  }

  @Override
  public int compareTo(ServerVersion other) {
    return major == other.major ? Integer.compare(minor, other.minor) : Integer.compare(major, other.major);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
