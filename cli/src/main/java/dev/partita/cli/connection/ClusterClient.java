package dev.partita.cli.connection;

import dev.partita.api.ApiServerJson;
import dev.partita.cli.command.CommandFailure;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A client for the cluster of a kubeconfig. */
public final class ClusterClient {
  private static final String PKCS8_BEGIN = "-----BEGIN PRIVATE KEY-----";

  /** As kubectl has it (client-go's dialer): the first of many connections to a busy API server takes some seconds. */
  private static final int CONNECT_MILLIS = 30_000;

  private static final int REQUEST_MILLIS = 30_000;

  private ClusterClient() {}

  /** The kubeconfig that kubectl would take with this environment; where it would merge several, the first of them. */
  public static Path current(Map<String, String> environment) {
    return kubeconfigs(environment).getFirst();
  }

  /**
   * The kubeconfigs that kubectl would merge with this environment: it leaves out those of {@code KUBECONFIG} that are
   * missing or empty. Where all are, they are given all the same, for {@link KubeconfigCheck} to say so.
   *
   * @return one at least
   */
  private static List<Path> kubeconfigs(Map<String, String> environment) {
    List<Path> named = Stream.of(environment.getOrDefault("KUBECONFIG", "").split(":", -1))
        .filter(name -> !name.isEmpty()).map(name -> Path.of(name).toAbsolutePath()).toList();
    List<Path> existing = named.stream().filter(Files::exists).toList();
    List<Path> saying =
        existing.stream().filter(file -> !Files.isRegularFile(file) || file.toFile().length() > 0).toList();
    Path usual = Path.of(environment.getOrDefault("HOME", "/"), ".kube", "config");
    return Stream.of(saying, existing, named).filter(files -> !files.isEmpty()).findFirst().orElse(List.of(usual));
  }

  /**
   * @throws CommandFailure if the file cannot be read
   */
  public static KubernetesClient of(Path kubeconfig) {
    return of(config(kubeconfig, Optional.empty()));
  }

  /**
   * The same, that fails after seconds where nobody answers, for somebody waits.
   *
   * @throws CommandFailure if the file cannot be read
   */
  public static KubernetesClient prompt(Path kubeconfig) {
    return prompt(config(kubeconfig, Optional.empty()));
  }

  /** A client for that configuration, that fails after seconds where nobody answers. */
  static KubernetesClient prompt(Config config) {
    config.setRequestRetryBackoffLimit(0);
    config.setConnectionTimeout(CONNECT_MILLIS);
    config.setRequestTimeout(REQUEST_MILLIS);
    return of(config);
  }

  /**
   * A client for that configuration.
   *
   * @throws CommandFailure if its proxy is none
   */
  static KubernetesClient of(Config config) {
    keyAlgorithm(config).ifPresent(config::setClientKeyAlgo); // the client takes every PKCS #8 key for RSA
    ClusterProxy.use(config);
    try {
      return new KubernetesClientBuilder().withConfig(config)
          .withKubernetesSerialization(new KubernetesSerialization(ApiServerJson.mapper(), true)).build();
    } catch (IllegalArgumentException e) { // a proxy without a host
      throw CommandFailure.usage("no client can be made by this kubeconfig: "
          + ClusterAnswers.rootOf(e).lines().findFirst().orElse("") + "; look at proxy-url there");
    }
  }

  /** The algorithm of the client's key where it is an elliptic curve's, in the kubeconfig or a file that this names. */
  static Optional<String> keyAlgorithm(Config config) {
    return keyPem(config).filter(ClusterClient::isEllipticCurve).map(_ -> "EC");
  }

  /** Empty also where it cannot be read: the client says so. */
  private static Optional<String> keyPem(Config config) {
    try {
      if (config.getClientKeyData() != null) {
        byte[] pem = Base64.getDecoder().decode(config.getClientKeyData().strip());
        return Optional.of(new String(pem, StandardCharsets.US_ASCII));
      }
      return config.getClientKeyFile() == null
          ? Optional.empty()
          : Optional.of(Files.readString(Path.of(config.getClientKeyFile()), StandardCharsets.ISO_8859_1));
    } catch (IOException | IllegalArgumentException unreadable) {
      return Optional.empty();
    }
  }

  /**
   * What a file says of a context, or of its current one.
   *
   * @throws CommandFailure if the file cannot be read, or has no such context
   */
  static Config config(Path kubeconfig, Optional<String> context) {
    return config(List.of(kubeconfig), context);
  }

  /** The same of files that are merged as kubectl does: what several say is as the first says it. */
  private static Config config(List<Path> kubeconfigs, Optional<String> context) {
    Optional<String> program = KubeconfigCheck.check(kubeconfigs, context);
    String at = kubeconfigs.stream().map(Path::toString).collect(Collectors.joining(" and "));
    Config config = Config.empty();
    try {
      KubeConfigUtils.merge(config, context.orElse(null), kubeconfigs.stream().map(Path::toFile)
          .map(KubeConfigUtils::parseConfig).toArray(io.fabric8.kubernetes.api.model.Config[]::new));
      ClusterProxy.useUrlOf(config);
    } catch (RuntimeException e) {
      throw CommandFailure.usage("the kubeconfig at " + at + " cannot be read: "
          + ClusterAnswers.rootOf(e).lines().findFirst().orElse(""));
    }
    if (program.isPresent() && !hasCredentials(config)) { // the client ignores what the program said of that
      throw CommandFailure
          .failed("'" + program.get() + "', which the kubeconfig at " + at + " names under exec,"
              + " gave no credentials: see whether kubectl gets some; else run it by hand with the arguments that stand"
              + " there, for it may be missing, or want you to log in");
    }
    return checked(config, context);
  }

  private static boolean hasCredentials(Config config) {
    return config.getAutoOAuthToken() != null || config.getOauthToken() != null || config.getClientCertData() != null
        || config.getClientCertFile() != null;
  }

  /**
   * What kubectl takes with this environment and without a file by name: the files of {@code KUBECONFIG} merged, or
   * {@code ~/.kube/config}, or the ServiceAccount of the pod that this runs in.
   *
   * @throws CommandFailure if there is none of them, or no such context
   */
  static Config config(Map<String, String> environment, Optional<String> context) {
    List<Path> files = kubeconfigs(environment);
    boolean inPod = !files.getFirst().toFile().canRead() && environment.containsKey("KUBERNETES_SERVICE_HOST");
    return inPod ? Config.autoConfigure(context.orElse(null)) : config(files, context);
  }

  /** The client would fall back to the current context without a word. */
  private static Config checked(Config config, Optional<String> context) {
    List<String> known = config.getContexts() == null
        ? List.of()
        : config.getContexts().stream().map(NamedContext::getName).toList();
    if (context.isPresent() && !known.contains(context.get())) {
      throw CommandFailure.usage("there is no context '" + context.get() + "' in the kubeconfig"
          + (known.isEmpty() ? "" : "; it has " + String.join(", ", known)));
    }
    return config;
  }

  private static boolean isEllipticCurve(String pem) {
    if (!pem.contains(PKCS8_BEGIN)) {
      return pem.contains("-----BEGIN EC PRIVATE KEY-----");
    }
    String body = pem.replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
    try {
      return !KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(body)))
          .getFormat().isEmpty();
    } catch (GeneralSecurityException | IllegalArgumentException another) {
      return false;
    }
  }
}
