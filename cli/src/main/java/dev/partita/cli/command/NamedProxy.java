package dev.partita.cli.command;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A proxy as a variable of the environment names it, such as {@code http://jo:secret@proxy.corp:3128}.
 *
 * @param login what it is to be told; empty if nothing
 */
public record NamedProxy(String host, int port, Optional<Login> login) {
  /** Up to the last @, as net/url and curl read it: a password may have one in it. */
  private static final Pattern URL = Pattern.compile("(?i)(?:http://|(?!.*://))(?:([^/?#]*)@)?([^/?#@]+)(?:[/?#].*)?");

  private static final int STANDARD_PORT = 80;

  /** Who asks, and what proves it. */
  public record Login(String user, String password) {
    @Override
    public String toString() {
      return user;
    }
  }

  /** Host and port. */
  public String name() {
    return host + ":" + port;
  }

  /** The URL of a proxy with its port; as it is where it is no such URL. */
  public static String withPort(String url) {
    Matcher parts = URL.matcher(url);
    return parse(url).isPresent() && parts.matches() && URI.create("http://" + parts.group(2)).getPort() < 0
        ? new StringBuilder(url).insert(parts.end(2), ":" + STANDARD_PORT).toString()
        : url;
  }

  /** Empty if it is another kind of proxy, or none. */
  static Optional<NamedProxy> parse(String value) {
    Matcher url = URL.matcher(value);
    if (!url.matches()) {
      return Optional.empty();
    }
    try {
      URI address = URI.create("http://" + url.group(2));
      @Nullable String host = address.getHost();
      Optional<Login> login = Optional.ofNullable(url.group(1)).map(NamedProxy::login);
      return host == null
          ? Optional.empty()
          : Optional.of(new NamedProxy(host, address.getPort() < 0 ? STANDARD_PORT : address.getPort(), login));
    } catch (IllegalArgumentException none) {
      return Optional.empty();
    }
  }

  private static Login login(String text) {
    String[] parts = text.split(":", 2);
    return new Login(decoded(parts[0]), parts.length > 1 ? decoded(parts[1]) : "");
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
