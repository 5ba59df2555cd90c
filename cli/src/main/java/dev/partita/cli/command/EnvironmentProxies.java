package dev.partita.cli.command;

import java.io.IOException;
import java.net.Authenticator;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the proxy for an address as kubectl and docker do: by {@code HTTPS_PROXY}, {@code HTTP_PROXY} and
 * {@code NO_PROXY}, or the same names in small letters (golang.org/x/net/http/httpproxy). For example, with
 * {@code HTTPS_PROXY=proxy.corp:3128} and {@code NO_PROXY=.corp,10.0.0.0/8} a registry of another domain is asked by
 * the proxy, and an API server at 10.1.2.3 without one. Proxies that are themselves asked by TLS ({@code https://}) or
 * SOCKS are left out.
 */
public final class EnvironmentProxies extends ProxySelector {
  private static final List<Proxy> NONE = List.of(Proxy.NO_PROXY);
  private static final Map<String, Integer> PORTS = Map.of("http", 80, "https", 443);

  /** As the JDK has it, a name and password are for no proxy that makes a connection for TLS. */
  private static final String NO_LOGIN = "jdk.http.auth.tunneling.disabledSchemes";

  private final Map<String, String> environment;

  private EnvironmentProxies(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Has this process use them, unless properties of the JVM name a proxy. */
  public static void use(Map<String, String> environment) {
    boolean isNamed = Stream.of("http.proxyHost", "https.proxyHost", "socksProxyHost")
        .anyMatch(name -> System.getProperty(name) != null);
    if (!isNamed) {
      if (System.getProperty(NO_LOGIN) == null) {
        System.setProperty(NO_LOGIN, "");
      }
      setDefault(new EnvironmentProxies(environment));
      Authenticator.setDefault(new ProxyLogins(environment));
    }
  }

  /** For clients that ask for it when a proxy wants it. */
  private static final class ProxyLogins extends Authenticator {
    private final Map<String, String> environment;

    ProxyLogins(Map<String, String> environment) {
      this.environment = environment;
    }

    @Override
    protected @Nullable PasswordAuthentication getPasswordAuthentication() {
      return getRequestorType() != RequestorType.PROXY
          ? null
          : Stream.of("https", "http").flatMap(scheme -> named(environment, scheme).stream())
              .filter(proxy -> proxy.host().equalsIgnoreCase(getRequestingHost())
                  && proxy.port() == getRequestingPort())
              .flatMap(proxy -> proxy.login().stream()).findFirst()
              .map(login -> new PasswordAuthentication(login.user(), login.password().toCharArray())).orElse(null);
    }
  }

  /** The proxy of the environment by which this process asks a server; empty if it asks it directly. */
  public static Optional<NamedProxy> of(URI server) {
    return getDefault() instanceof EnvironmentProxies its ? of(its.environment, server) : Optional.empty();
  }

  /** How this process asks a server, to stand behind its name; empty if directly, as nobody wants it otherwise. */
  public static String way(URI server) {
    return inUse(server).map(proxy -> " through the proxy " + proxy).orElseGet(
        () -> getDefault() instanceof EnvironmentProxies its && isLeftOut(its.environment, server)
            ? " without " + variable(server).toUpperCase(Locale.ROOT) + ", which is not as http://proxy.example:3128"
            : "");
  }

  private static Optional<String> inUse(URI server) {
    return getDefault().select(server).stream()
        .flatMap(proxy -> proxy.address() instanceof InetSocketAddress address ? Stream.of(address) : Stream.empty())
        .map(address -> address.getHostString() + ":" + address.getPort()).findFirst();
  }

  @Override
  public List<Proxy> select(URI uri) {
    return of(environment, uri)
        .map(proxy -> InetSocketAddress.createUnresolved(proxy.host(), proxy.port()))
        .map(address -> List.of(new Proxy(Proxy.Type.HTTP, address))).orElse(NONE);
  }

  @Override
  public void connectFailed(URI uri, SocketAddress proxy, IOException why) {}

  /** The proxy for an address; empty if it is to be asked without one. */
  static Optional<NamedProxy> of(Map<String, String> environment, URI uri) {
    return isFor(environment, uri) ? NamedProxy.parse(value(environment, variable(uri))) : Optional.empty();
  }

  private static boolean isLeftOut(Map<String, String> environment, URI uri) {
    return isFor(environment, uri) && !value(environment, variable(uri)).isEmpty()
        && of(environment, uri).isEmpty();
  }

  private static String variable(URI uri) {
    return uri.getScheme().toLowerCase(Locale.ROOT) + "_proxy";
  }

  private static Optional<NamedProxy> named(Map<String, String> environment, String scheme) {
    return NamedProxy.parse(value(environment, scheme + "_proxy"));
  }

  /** Whether an address is to be asked by a proxy, if one is named. */
  private static boolean isFor(Map<String, String> environment, URI uri) {
    @Nullable Integer standardPort =
        PORTS.get(Objects.requireNonNullElse(uri.getScheme(), "").toLowerCase(Locale.ROOT));
    @Nullable String name = uri.getHost();
    if (standardPort == null || name == null) {
      return false;
    }
    String host = name.replaceAll("[\\[\\]]", "").toLowerCase(Locale.ROOT);
    int port = uri.getPort() < 0 ? standardPort : uri.getPort();
    return !isDirect(host, port, value(environment, "NO_PROXY"));
  }

  private static String value(Map<String, String> environment, String name) {
    return Stream.of(name.toUpperCase(Locale.ROOT), name.toLowerCase(Locale.ROOT))
        .flatMap(each -> Stream.ofNullable(environment.get(each))).filter(value -> !value.isBlank())
        .map(String::strip).findFirst().orElse("");
  }

  private static boolean isDirect(String host, int port, String noProxy) {
    Optional<InetAddress> ip = literal(host);
    return host.equals("localhost") || ip.filter(InetAddress::isLoopbackAddress).isPresent()
        || Stream.of(noProxy.toLowerCase(Locale.ROOT).split(",", -1)).map(String::strip)
            .filter(entry -> !entry.isEmpty()).anyMatch(entry -> names(entry, host, ip, port));
  }

  private static boolean names(String entry, String host, Optional<InetAddress> ip, int port) {
    if (entry.equals("*")) {
      return true;
    }
    int slash = entry.indexOf('/');
    if (slash >= 0) {
      return ip.isPresent() && isIn(ip.get(), literal(entry.substring(0, slash)), entry.substring(slash + 1));
    }
    boolean isPlainIp = literal(entry).isPresent();
    int colon = isPlainIp ? -1 : entry.lastIndexOf(':');
    String name = (colon < 0 ? entry : entry.substring(0, colon)).replaceAll("[\\[\\]]", "");
    if (colon >= 0 && !entry.substring(colon + 1).equals(String.valueOf(port))) {
      return false;
    }
    String domain = name.startsWith("*.") ? name.substring(1) : name;
    return ip.isPresent()
        ? literal(name).equals(ip)
        : domain.startsWith(".") ? host.endsWith(domain) : host.equals(domain) || host.endsWith("." + domain);
  }

  private static boolean isIn(InetAddress ip, Optional<InetAddress> network, String length) {
    byte[] address = ip.getAddress();
    if (network.isEmpty() || network.get().getAddress().length != address.length || !length.matches("[0-9]{1,3}")) {
      return false;
    }
    byte[] prefix = network.get().getAddress();
    int bits = Math.min(Integer.parseInt(length), address.length * Byte.SIZE);
    for (int bit = 0; bit < bits; bit++) {
      int mask = 1 << (Byte.SIZE - 1 - bit % Byte.SIZE);
      if (((address[bit / Byte.SIZE] ^ prefix[bit / Byte.SIZE]) & mask) != 0) {
        return false;
      }
    }
    return true;
  }

  private static Optional<InetAddress> literal(String text) {
    try {
      return Optional.of(InetAddress.ofLiteral(text));
    } catch (IllegalArgumentException name) {
      return Optional.empty();
    }
  }
}
