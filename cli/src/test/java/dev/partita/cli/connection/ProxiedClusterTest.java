package dev.partita.cli.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.Partita;
import dev.partita.cli.command.CommandRun;
import dev.partita.cli.command.PaperProxy;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProxiedClusterTest {
  private static final String AUTHORIZATION =
      "Proxy-Authorization: Basic " + Base64.getEncoder().encodeToString("jo:se@cr+t".getBytes(StandardCharsets.UTF_8));

  @TempDir private Path folder;

  private String kubeconfig(String proxy) throws IOException {
    return Files.writeString(folder.resolve("kubeconfig"), """
        current-context: here
        contexts: [{name: here, context: {cluster: c, user: c}}]
        clusters: [{name: c, cluster: {server: "https://api.invalid:6443"%s}}]
        users: [{name: c, user: {token: t}}]
        """.formatted(proxy)).toString();
  }

  /** In a process of its own: the JDK reads once what it does at proxies. */
  private String top(String proxy) throws IOException, InterruptedException {
    ProcessBuilder top = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), Partita.class.getName(), "top", "--kubeconfig", kubeconfig(""));
    top.environment().keySet().removeIf(name -> name.toLowerCase(java.util.Locale.ROOT).endsWith("_proxy"));
    top.environment().put("HTTPS_PROXY", proxy);
    Process process = top.redirectErrorStream(true).start();
    String says = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return says;
  }

  @Test
  void theEnvironmentsProxyIsToldNameAndPassword() throws IOException, InterruptedException {
    try (PaperProxy proxy = new PaperProxy()) {
      String says = top("http://jo:se%40cr+t@" + proxy.address());
      assertThat(proxy.sent()).contains("CONNECT api.invalid:6443 HTTP/1.1", AUTHORIZATION);
      assertThat(says).contains("no API server answers at https://api.invalid:6443 through the proxy "
          + proxy.address() + " (context here of " + folder + "/kubeconfig): Tunnel failed, got: 502")
          .doesNotContain("se@cr", "se%40");
    }
  }

  @Test
  void aProxyThatIsLeftOutIsSaid() throws IOException, InterruptedException {
    assertThat(top("socks5://jo:secret@127.0.0.1:1"))
        .contains("no API server answers at https://api.invalid:6443 without HTTPS_PROXY,"
            + " which is not as http://proxy.example:3128 (context here of ", "its name cannot be resolved")
        .doesNotContain("secret");
  }

  /** As kubectl, which goes by net/http. */
  @Test
  void aProxyUrlWithoutAPortIsOfPort80() {
    for (String[] url : new String[][]{{"http://proxy.corp", "http://proxy.corp:80"},
      {"http://jo:se%40cr@proxy.corp/", "http://jo:se%40cr@proxy.corp:80/"}, {"http://[::1]", "http://[::1]:80"},
      {"http://proxy.corp:3128", "http://proxy.corp:3128"}}) {
      Config config = Config.empty();
      config.setHttpProxy(url[0]);
      ClusterProxy.useUrlOf(config);
      assertThat(config.getHttpProxy()).isEqualTo(url[1]).isEqualTo(config.getHttpsProxy());
    }
  }

  /** A pod may have HTTP_PROXY for other servers: its API server has TLS. */
  @Test
  void inAPodHttpProxyIsNotForTheApiServer() {
    Config ofPod = Config.empty();
    ofPod.setMasterUrl("https://10.96.0.1:443");
    ofPod.setHttpProxy("http://proxy.corp:3128");
    ClusterProxy.use(ofPod);
    assertThat(ofPod.getHttpsProxy()).isNull();
    assertThat(ClusterProxy.way(ofPod)).isEmpty();
  }

  @Test
  void theKubeconfigsProxyIsTaken() throws IOException {
    try (PaperProxy proxy = new PaperProxy()) {
      CommandRun run =
          CommandRun.of("top", "--kubeconfig", kubeconfig(", proxy-url: \"http://" + proxy.address() + "\""));
      assertThat(proxy.sent()).contains("CONNECT api.invalid:6443 HTTP/1.1");
      assertThat(run.err()).contains("at https://api.invalid:6443 through the proxy " + proxy.address()
          + " (context here of " + folder + "/kubeconfig): the proxy wants a name and password");
    }
  }
}
