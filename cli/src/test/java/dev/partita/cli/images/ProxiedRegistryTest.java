package dev.partita.cli.images;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.EnvironmentProxies;
import dev.partita.cli.command.PaperProxy;
import java.io.IOException;
import java.net.Authenticator;
import java.net.ProxySelector;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("it sets the proxies of the process")
class ProxiedRegistryTest {
  private final ProxySelector before = ProxySelector.getDefault();

  @TempDir Path folder = Path.of("");

  @AfterEach
  void proxiesAreAsTheyWere() {
    ProxySelector.setDefault(before);
    Authenticator.setDefault(null);
  }

  @Test
  void theProxyIsToldNameAndPassword() throws IOException {
    try (PaperProxy proxy = new PaperProxy()) {
      EnvironmentProxies.use(Map.of("HTTPS_PROXY", "http://jo:secret@" + proxy.address()));
      assertThatThrownBy(() -> make("registry.invalid/base:v1")).isInstanceOf(CommandFailure.class);
      assertThat(proxy.sent()).contains("CONNECT registry.invalid:443 HTTP/1.1",
          "Proxy-Authorization: Basic " + Base64.getEncoder().encodeToString("jo:secret".getBytes(US_ASCII)));
    }
  }

  @Test
  void registriesAreAskedThroughTheEnvironmentsProxyWhichIsNamedWhereNoneAnswers() throws IOException {
    EnvironmentProxies.use(Map.of("HTTPS_PROXY", "http://127.0.0.1:1", "NO_PROXY", "direct.invalid"));
    assertThatThrownBy(() -> make("registry.invalid/base:v1")).isInstanceOf(CommandFailure.class)
        .hasMessageStartingWith(
            "some: a registry cannot be reached through the proxy 127.0.0.1:1 (Connect to 127.0.0.1:1 ");
    assertThatThrownBy(() -> make("direct.invalid/base:v1")).isInstanceOf(CommandFailure.class)
        .hasMessageStartingWith("some: a registry cannot be reached (direct.invalid");
  }

  @Test
  void aProxyThatIsLeftOutIsSaid() {
    EnvironmentProxies.use(Map.of("HTTPS_PROXY", "socks5://127.0.0.1:1"));
    assertThatThrownBy(() -> make("registry.invalid/base:v1")).isInstanceOf(CommandFailure.class)
        .hasMessageStartingWith("some: a registry cannot be reached without HTTPS_PROXY, which is not as "
            + "http://proxy.example:3128 (");
  }

  private void make(String base) throws IOException {
    new ImageBuilder(folder.resolve("cache"), false, Duration.ofSeconds(1), new RegistryLogins()).toArchive(
        ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, base), folder.resolve("some.tar"));
  }
}
