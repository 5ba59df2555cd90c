package dev.partita.cli.images;

import com.google.cloud.tools.jib.api.Credential;
import com.google.cloud.tools.jib.api.ImageReference;
import com.google.cloud.tools.jib.api.LogEvent;
import com.google.cloud.tools.jib.api.RegistryAuthenticationFailedException;
import com.google.cloud.tools.jib.api.RegistryImage;
import com.google.cloud.tools.jib.api.RegistryUnauthorizedException;
import com.google.cloud.tools.jib.frontend.CredentialRetrieverFactory;
import com.google.cloud.tools.jib.http.ResponseException;
import com.google.cloud.tools.jib.registry.credentials.CredentialRetrievalException;
import dev.partita.api.Excerpt;
import java.net.HttpURLConnection;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Logins for registries, as docker's configuration has them, which is what other programs of containers take. Why none
 * was found is nothing that Jib fails with: it goes on without, and says it in what it logs.
 */
final class RegistryLogins {
  private static final int LONGEST = 600;

  /** Failures that Jib logs with the details: of the file, and of helpers that it tries by a registry's name alone. */
  private static final Pattern FAILURE =
      Pattern.compile("(?s)(The system does not have |The credential helper |Unable to parse | {2}Caused by: ).*");

  private static final Pattern FOUND = Pattern.compile("Using (.*) for \\S+");

  private final Path configuration;
  private final Map<String, Set<String>> failures = new ConcurrentHashMap<>();
  private final Map<String, String> found = new ConcurrentHashMap<>();

  RegistryLogins() {
    this(Path.of(System.getProperty("user.home"), ".docker", "config.json"));
  }

  /** @param configuration docker's, which need not be there */
  RegistryLogins(Path configuration) {
    this.configuration = configuration;
  }

  /** An image with the login for its registry. */
  RegistryImage image(ImageReference reference) {
    CredentialRetrieverFactory known = known(reference);
    return RegistryImage.named(reference).addCredentialRetriever(known.dockerConfig(configuration))
        .addCredentialRetriever(known.wellKnownCredentialHelpers());
  }

  /** The login for an image's registry. */
  Optional<Credential> of(ImageReference reference) throws CredentialRetrievalException {
    CredentialRetrieverFactory known = known(reference);
    Optional<Credential> configured = known.dockerConfig(configuration).retrieve();
    return configured.isPresent() ? configured : known.wellKnownCredentialHelpers().retrieve();
  }

  private CredentialRetrieverFactory known(ImageReference reference) {
    return CredentialRetrieverFactory.forImage(reference, event -> hear(reference.getRegistry(), event));
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
      return "the registry refuses the login by %s for %s: 'docker login' anew, or as somebody who may do this"
          .formatted(login, image);
    }
    @Nullable Set<String> why = failures.get(registry);
    return why == null
        ? "the registry wants a login for %s: 'docker login', or another program that writes ~/.docker/config.json"
            .formatted(image)
        : "the registry wants a login for %s, and none was found (%s): mend that, or 'docker login' anew".formatted(
            image, Excerpt.of(String.join("; ", why), LONGEST));
  }
}
