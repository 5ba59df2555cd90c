package dev.partita.cli.images;

import com.google.cloud.tools.jib.api.Credential;
import com.google.cloud.tools.jib.api.CredentialRetriever;
import com.google.cloud.tools.jib.api.ImageReference;
import com.google.cloud.tools.jib.api.LogEvent;
import com.google.cloud.tools.jib.api.RegistryAuthenticationFailedException;
import com.google.cloud.tools.jib.api.RegistryImage;
import com.google.cloud.tools.jib.api.RegistryUnauthorizedException;
import com.google.cloud.tools.jib.frontend.CredentialRetrieverFactory;
import com.google.cloud.tools.jib.http.ResponseException;
import com.google.cloud.tools.jib.registry.RegistryCredentialsNotSentException;
import com.google.cloud.tools.jib.registry.credentials.CredentialRetrievalException;
import dev.partita.api.Excerpt;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Logins for registries, as podman, skopeo or docker, and what goes by their files, have written them. Why none was
 * found is nothing that Jib fails with: it goes on without, and says it in what it logs.
 */
final class RegistryLogins {
  private static final int LONGEST = 600;

  /** Of this process, as Linux has it; its owner is the user. */
  private static final Path SELF = Path.of("/proc/self");

  /** Failures that Jib logs with the details: of the file, and of helpers that it tries by a registry's name alone. */
  private static final Pattern FAILURE =
      Pattern.compile("(?s)(The system does not have |The credential helper |Unable to parse | {2}Caused by: ).*");

  private static final Pattern FOUND = Pattern.compile("Using (.*) for \\S+");

  private final List<Path> files;
  private final Map<String, Set<String>> failures = new ConcurrentHashMap<>();
  private final Map<String, String> found = new ConcurrentHashMap<>();

  RegistryLogins() {
    this(files(System.getenv(), Path.of(System.getProperty("user.home"))));
  }

  /** @param files in docker's format, which need not be there; the first that has a login for a registry decides */
  RegistryLogins(List<Path> files) {
    this.files = List.copyOf(files);
  }

  /**
   * Where logins are kept, in the order in which podman, buildah and skopeo look (containers-auth.json(5)): docker's
   * file, which crane and oras write too, comes last.
   */
  static List<Path> files(Map<String, String> environment, Path home) {
    Stream<Path> ofPodman =
        path(environment, "REGISTRY_AUTH_FILE").map(Stream::of)
            .orElseGet(() -> Stream.concat(
                path(environment, "XDG_RUNTIME_DIR").map(folder -> folder.resolve("containers"))
                    .or(RegistryLogins::folderByUser).stream(),
                Stream.of(path(environment, "XDG_CONFIG_HOME").orElse(home.resolve(".config")).resolve("containers")))
                .map(folder -> folder.resolve("auth.json")));
    Path ofDocker = path(environment, "DOCKER_CONFIG").orElse(home.resolve(".docker")).resolve("config.json");
    return Stream.concat(ofPodman, Stream.of(ofDocker)).toList();
  }

  private static Optional<Path> path(Map<String, String> environment, String variable) {
    return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty()).map(Path::of);
  }

  /** Where podman keeps the logins of who has no session, such as root's; empty where the system has no such number. */
  private static Optional<Path> folderByUser() {
    try {
      return Optional.of(Path.of("/run/containers").resolve(Files.getAttribute(SELF, "unix:uid").toString()));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  /** An image with the login for its registry. */
  RegistryImage image(ImageReference reference) {
    RegistryImage image = RegistryImage.named(reference);
    retrievers(reference).forEach(image::addCredentialRetriever);
    return image;
  }

  /** The login for an image's registry. */
  Optional<Credential> of(ImageReference reference) throws CredentialRetrievalException {
    for (CredentialRetriever retriever : retrievers(reference)) {
      Optional<Credential> login = retriever.retrieve();
      if (login.isPresent()) {
        return login;
      }
    }
    return Optional.empty();
  }

  private List<CredentialRetriever> retrievers(ImageReference reference) {
    CredentialRetrieverFactory known =
        CredentialRetrieverFactory.forImage(reference, event -> hear(reference.getRegistry(), event));
    return Stream.concat(files.stream().map(known::dockerConfig), Stream.of(known.wellKnownCredentialHelpers()))
        .toList();
  }

  /** Keeps what is said of looking for the login of a registry, in whatever thread. */
  void hear(String registry, LogEvent event) {
    String message = event.getMessage();
    Matcher says = FOUND.matcher(message);
    if (says.matches()) {
      found.put(registry, says.group(1));
    } else if (event.getLevel() == LogEvent.Level.WARN || FAILURE.matcher(message).matches()) {
      failures.computeIfAbsent(registry, _ -> Collections.synchronizedSet(new LinkedHashSet<>())).add(oneLine(message));
    }
  }

  /** Without what a helper said in JSON, which may have a password in it. */
  private static String oneLine(String message) {
    return message.replaceFirst("(?s)\\{.*", "").replaceFirst("\\s*Got output:\\s*", ": ").replaceAll("\\s+", " ")
        .replaceFirst("[: ]+$", "").strip();
  }

  /** What a registry wants that refused a request for want of a login, or of a right; empty where it did not. */
  Optional<String> refusal(Throwable failure) {
    return switch (failure) {
      case RegistryUnauthorizedException refused -> Optional.of(refusal(refused.getImageReference()));
      case RegistryAuthenticationFailedException refused when isRefused(refused.getCause()) ->
          Optional.of(refusal(refused.getServerUrl() + "/" + refused.getImageName()));
      case RegistryCredentialsNotSentException notSent ->
          Optional.of(notSent.getMessage() + ": have the registry speak TLS, or let you in without a login");
      default -> Optional.empty();
    };
  }

  private static boolean isRefused(@Nullable Throwable cause) {
    return cause instanceof ResponseException answer
        && (answer.getStatusCode() == HttpURLConnection.HTTP_UNAUTHORIZED
            || answer.getStatusCode() == HttpURLConnection.HTTP_FORBIDDEN);
  }

  private String refusal(String image) {
    String registry = image.split("/", 2)[0];
    @Nullable String login = found.get(registry);
    if (login != null) {
      return "the registry refuses the login by %s for %s: log in anew, or as somebody who may do this"
          .formatted(login, image);
    }
    @Nullable Set<String> why = failures.get(registry);
    return why == null
        ? "the registry wants a login for %s: log in by 'docker login', 'podman login' or 'skopeo login'"
            .formatted(image)
        : "the registry wants a login for %s, and none was found (%s): mend that, or log in anew".formatted(
            image, Excerpt.of(String.join("; ", why), LONGEST));
  }
}
