package dev.partita.cli.connection;

import dev.partita.cli.command.EnvironmentProxies;
import dev.partita.cli.command.NamedProxy;
import io.fabric8.kubernetes.client.Config;
import java.net.URI;
import java.util.Optional;

/** Has the client ask an API server by the proxy that kubectl would take: the kubeconfig's, or the environment's. */
final class ClusterProxy {
  private ClusterProxy() {}

  /**
   * Has it take a kubeconfig's proxy-url of http:// for servers with TLS, too, and port 80 where the URL has none. In
   * the pod's own configuration the same field is HTTP_PROXY, which is not for such servers.
   */
  static void useUrlOf(Config kubeconfig) {
    if (kubeconfig.getHttpProxy() != null) {
      String proxy = NamedProxy.withPort(kubeconfig.getHttpProxy());
      kubeconfig.setHttpProxy(proxy);
      kubeconfig.setHttpsProxy(proxy);
    }
  }

  /** The client takes no password from the environment. */
  static void use(Config config) {
    if (ofConfig(config).isPresent()) {
      return;
    }
    Optional<NamedProxy> proxy = server(config).flatMap(EnvironmentProxies::of);
    proxy.flatMap(NamedProxy::login).ifPresent(login -> {
      config.setHttpProxy("http://" + proxy.orElseThrow().name());
      config.setHttpsProxy(config.getHttpProxy());
      config.setProxyUsername(login.user());
      config.setProxyPassword(login.password());
    });
  }

  /** By what proxy a server is asked, to stand behind its address; empty if it is asked directly. */
  static String way(Config config) {
    return ofConfig(config).map(proxy -> " through the proxy " + proxy.replaceFirst("^(?:.*@|.*://)", ""))
        .or(() -> server(config).map(EnvironmentProxies::way)).orElse("");
  }

  private static Optional<String> ofConfig(Config config) {
    return Optional.ofNullable(config.getMasterUrl().startsWith("http:")
        ? config.getHttpProxy()
        : config.getHttpsProxy());
  }

  /** Empty where it is no address: the client says so. */
  private static Optional<URI> server(Config config) {
    try {
      return Optional.of(URI.create(config.getMasterUrl()));
    } catch (IllegalArgumentException none) {
      return Optional.empty();
    }
  }
}
