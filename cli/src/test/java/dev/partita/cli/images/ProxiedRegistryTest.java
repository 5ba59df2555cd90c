package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.EnvironmentProxies;
import java.io.IOException;
import java.net.ProxySelector;
import java.nio.file.Path;
import java.time.Duration;
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

  private void make(String base) throws IOException {
    new ImageBuilder(folder.resolve("cache"), false, Duration.ofSeconds(1), new RegistryLogins()).toArchive(
        ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, base), folder.resolve("some.tar"));
  }
}
