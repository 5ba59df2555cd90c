package dev.partita.cli.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A {@code KUBECONFIG} of several files is read as kubectl does. */
class SeveralKubeconfigsTest {
  private static final String CONTEXT = """
      contexts:
      - {name: %1$s, context: {cluster: %1$s, user: %1$s}}
      """;
  private static final String CLUSTER = """
      clusters:
      - {name: %s, cluster: {server: "https://%s.example:6443", certificate-authority: ca.crt}}
      """;
  private static final String USER = """
      users:
      - {name: %s, user: {token: %s}}
      """;

  @TempDir private Path folder;

  private String file(String name, String text) throws IOException {
    Files.createDirectories(folder.resolve(name));
    return Files.writeString(folder.resolve(name).resolve("config"), text).toString();
  }

  private static String whole(String name, String server) {
    return CONTEXT.formatted(name) + CLUSTER.formatted(name, server) + USER.formatted(name, "of-" + server);
  }

  private static Config config(String files) {
    return ClusterClient.config(Map.of("KUBECONFIG", files), Optional.empty());
  }

  private static Config config(String files, String context) {
    return ClusterClient.config(Map.of("KUBECONFIG", files), Optional.of(context));
  }

  private static void assertRefused(String files, String says) {
    assertThatThrownBy(() -> config(files)).isInstanceOf(CommandFailure.class).hasMessageContaining(says);
  }

  @Test
  void theFirstCurrentContextIsTaken() throws IOException {
    String silent = file("silent", whole("c", "c"));
    String first = file("first", "current-context: a\n" + whole("a", "a"));
    String second = file("second", "current-context: b\n" + whole("b", "b"));
    assertThat(config(silent + ":" + first + ":" + second).getMasterUrl()).isEqualTo("https://a.example:6443/");
    assertThat(config(silent + ":" + first + ":" + second, "b").getMasterUrl()).isEqualTo("https://b.example:6443/");
  }

  @Test
  void aContextMayNameClusterAndUserOfOtherFiles() throws IOException {
    String files = file("context", "current-context: a\n" + CONTEXT.formatted("a")) + ":"
        + file("cluster", CLUSTER.formatted("a", "a")) + ":" + file("user", USER.formatted("a", "t"));
    Config config = config(files);
    assertThat(config.getMasterUrl()).isEqualTo("https://a.example:6443/");
    assertThat(config.getCaCertFile()).isEqualTo(folder.resolve("cluster/ca.crt").toString());
    assertThat(config.getAutoOAuthToken()).isEqualTo("t");
  }

  @Test
  void ofTheSameNameTheFirstIsTaken() throws IOException {
    String files = file("first", whole("a", "a")) + ":" + file("second", "current-context: a\n" + whole("a", "b"));
    assertThat(config(files).getMasterUrl()).isEqualTo("https://a.example:6443/");
    assertThat(config(files).getAutoOAuthToken()).isEqualTo("of-a");
  }

  @Test
  void aFileThatIsMissingOrEmptyIsLeftOut() throws IOException {
    String there = file("there", "current-context: a\n" + whole("a", "a"));
    String empty = file("empty", "");
    for (String files : new String[]{folder.resolve("none") + ":" + there, ":" + there, there + ":",
      empty + ":" + there}) {
      assertThat(config(files).getMasterUrl()).as(files).isEqualTo("https://a.example:6443/");
      assertThat(ClusterClient.current(Map.of("KUBECONFIG", files))).as("where one file is needed, of " + files)
          .isEqualTo(Path.of(there));
    }
    String none = folder.resolve("a") + ":" + folder.resolve("b");
    assertRefused(none, "there is no kubeconfig at " + none.replace(":", " or ") + "; name another");
  }

  @Test
  void theFileThatIsWrongIsNamed() throws IOException {
    String right = file("right", "current-context: a\n" + whole("a", "a"));
    String broken = file("broken", "contexts: {");
    assertRefused(right + ":" + broken, "the kubeconfig at " + broken + " cannot be read: while parsing");
  }

  @Test
  void aCurrentContextThatNoneHasIsNotReplacedByThatOfTheNext() throws IOException {
    String gone = file("gone", "current-context: gone\n" + whole("b", "b"));
    String next = file("next", "current-context: a\n" + whole("a", "a"));
    assertRefused(gone + ":" + next, "there is no context 'gone' in the kubeconfig; it has b, a");
  }

  @Test
  void withoutACurrentContextNoServerIsGuessed() throws IOException {
    String files = file("first", whole("a", "a")) + ":" + file("second", whole("b", "b"));
    assertRefused(files, "the kubeconfig at " + files.replace(":", " and ")
        + " has no current context: name one by --context; it has a, b");
  }
}
