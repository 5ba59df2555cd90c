package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.cloud.tools.jib.api.ImageReference;
import com.google.cloud.tools.jib.api.LogEvent;
import com.google.cloud.tools.jib.api.RegistryAuthenticationFailedException;
import com.google.cloud.tools.jib.api.RegistryUnauthorizedException;
import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistryLoginsTest {
  @TempDir Path folder = Path.of("");

  /** @param login in docker's configuration, of the registry */
  private RegistryLogins logins(String registry, String section, String login) throws IOException {
    return new RegistryLogins(List.of(folder.resolve("none"), Files.writeString(folder.resolve("config.json"), """
        {"%s": {"%s": %s}}""".formatted(section, registry, login))));
  }

  private static String auth(String userAndPassword, String more) {
    String encoded = Base64.getEncoder().encodeToString(userAndPassword.getBytes(StandardCharsets.UTF_8));
    return "{\"auth\": \"%s\"%s}".formatted(encoded, more);
  }

  private static ImageReference image(String registry) {
    return ImageBuilder.reference(registry + "/base:v1");
  }

  private void make(String registry, RegistryLogins logins) throws IOException {
    ImageRequest request =
        ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, image(registry).toString());
    new ImageBuilder(folder.resolve("cache"), true, Duration.ofSeconds(1), logins)
        .toArchive(request, folder.resolve("some.tar"));
  }

  private static void pushIndex(String registry, RegistryLogins logins) {
    new ImageIndex(List.of()).push(image(registry), true, logins);
  }

  @Test
  void whyAHelperGaveNoLoginIsSaid() throws IOException {
    try (LockedRegistry registry = LockedRegistry.start()) {
      RegistryLogins logins = logins(registry.address(), "credHelpers", "\"of-no-program\"");
      String says =
          "the registry wants a login for " + registry.address() + "/base, and none was found"
              + " (The system does not have docker-credential-of-no-program CLI; Caused by: ";
      assertThatThrownBy(() -> make(registry.address(), logins)).isInstanceOf(CommandFailure.class)
          .hasMessageStartingWith("some: " + says).hasMessageEndingWith("): mend that, or log in anew");
      assertThatThrownBy(() -> pushIndex(registry.address(), logins)).isInstanceOf(CommandFailure.class)
          .hasMessageStartingWith("the index %s cannot be pushed: ".formatted(image(registry.address())) + says);
    }
  }

  @Test
  void aLoginThatIsRefusedIsNotSaidToBeMissing() throws IOException {
    try (LockedRegistry registry = LockedRegistry.start()) {
      RegistryLogins logins = logins(registry.address(), "auths", auth("jo:wrong", ""));
      String says =
          "the registry refuses the login by credentials from Docker config (" + folder.resolve("config.json")
              + ") for " + registry.address() + "/base: log in anew, or as somebody who may do this";
      assertThatThrownBy(() -> make(registry.address(), logins)).hasMessageStartingWith("some: " + says);
      assertThatThrownBy(() -> pushIndex(registry.address(), logins)).isInstanceOf(CommandFailure.class)
          .hasMessageContaining(says);
    }
  }

  @Test
  void aLoginIsNotSentOverHttp() throws IOException {
    try (PlainRegistry registry = new PlainRegistry()) {
      RegistryLogins logins = logins(registry.address(), "auths", auth("jo:secret", ""));
      String says = "Required credentials for " + registry.address()
          + "/base were not sent because the connection was over HTTP: have the registry speak TLS";
      assertThatThrownBy(() -> make(registry.address(), logins)).hasMessageStartingWith("some: " + says);
      assertThatThrownBy(() -> pushIndex(registry.address(), logins)).hasMessageContaining(": " + says);
      assertThat(registry.sent()).isNotEmpty().noneMatch(line -> line.startsWith("Authorization"));
    }
  }

  @Test
  void whereThereIsNoLoginAtAllOneIsToBeMade() throws IOException {
    try (LockedRegistry registry = LockedRegistry.start()) {
      RegistryLogins none = new RegistryLogins(List.of());
      String says =
          "the registry wants a login for %s/base: log in by 'docker login', 'podman login' or 'skopeo login'"
              .formatted(registry.address());
      assertThatThrownBy(() -> make(registry.address(), none)).hasMessage("some: " + says);
      assertThatThrownBy(() -> pushIndex(registry.address(), none)).hasMessageEndingWith(": " + says);
    }
  }

  @Test
  void loginsOfPodmanAndSkopeoAreFoundBeforeDockers() {
    Path home = Path.of("/home/jo");
    assertThat(RegistryLogins.files(Map.of("XDG_RUNTIME_DIR", "/run/user/7"), home))
        .containsExactly(
            Path.of("/run/user/7/containers/auth.json"),
            home.resolve(".config/containers/auth.json"),
            home.resolve(".docker/config.json"));
    assertThat(RegistryLogins.files(
        Map.of("XDG_RUNTIME_DIR", "/run/user/7", "XDG_CONFIG_HOME", "/conf", "DOCKER_CONFIG", "/docker"), home))
        .containsExactly(
            Path.of("/run/user/7/containers/auth.json"),
            Path.of("/conf/containers/auth.json"),
            Path.of("/docker/config.json"));
    assertThat(RegistryLogins.files(Map.of("REGISTRY_AUTH_FILE", "/ci/auth.json", "XDG_RUNTIME_DIR", "/run/7"), home))
        .containsExactly(Path.of("/ci/auth.json"), home.resolve(".docker/config.json"));
    assertThat(RegistryLogins.files(Map.of("REGISTRY_AUTH_FILE", "", "XDG_RUNTIME_DIR", "/run/7"), home))
        .startsWith(Path.of("/run/7/containers/auth.json"));
  }

  @Test
  void withoutAFolderOfTheSessionLoginsOfPodmanAreWhereItKeepsThemByUser() throws IOException {
    Path home = Path.of("/home/jo");
    Path byUser = Path.of("/run/containers/" + Files.getAttribute(Path.of("/proc/self"), "unix:uid") + "/auth.json");
    assertThat(RegistryLogins.files(Map.of("XDG_RUNTIME_DIR", ""), home)).containsExactly(
        byUser, home.resolve(".config/containers/auth.json"), home.resolve(".docker/config.json"));
  }

  @Test
  void aTokenIsNotTakenForAPassword() throws IOException {
    try (LockedRegistry registry = LockedRegistry.start()) {
      RegistryLogins logins =
          logins(registry.address(), "auths",
              auth("00000000-0000-0000-0000-000000000000:", ", \"identitytoken\": \"t\""));
      assertThatThrownBy(() -> pushIndex(registry.address(), logins)).isInstanceOf(CommandFailure.class)
          .hasMessageContaining("the registry refuses the login by ");
    }
  }

  @Test
  void whatAHelperSaysIsOneLineWithoutPasswords() {
    RegistryLogins logins = new RegistryLogins(List.of());
    logins.hear("registry.example", LogEvent.info("trying docker-credential-x for registry.example"));
    logins.hear("registry.example", LogEvent.info("The credential helper (docker-credential-x) has nothing for server"
        + " URL: registry.example\n\nGot output:\n\nno session:\nrun x login\n"));
    logins.hear("registry.example", LogEvent.warn("The credential helper (docker-credential-y) has nothing for server"
        + " URL: registry.example\n\nGot output:\n\n{\"Secret\": \"hidden\"}"));
    logins.hear("another.example", LogEvent.warn("of another"));
    assertThat(logins.refusal(new RegistryUnauthorizedException("registry.example", "some", null)).orElse(""))
        .contains("none was found (The credential helper (docker-credential-x) has nothing for server URL:"
            + " registry.example: no session: run x login; The credential helper (docker-credential-y) has nothing for"
            + " server URL: registry.example): ");
  }

  @Test
  void aTokenThatCouldNotBeFetchedIsNoRefusal() {
    assertThat(new RegistryLogins(List.of())
        .refusal(new RegistryAuthenticationFailedException("registry.example", "some", new IOException("reset"))))
        .isEmpty();
  }
}
