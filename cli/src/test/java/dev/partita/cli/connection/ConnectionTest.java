package dev.partita.cli.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandRun;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Base64;
import java.security.spec.ECGenParameterSpec;
import java.security.KeyPairGenerator;
import java.nio.charset.StandardCharsets;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConnectionTest {
  private static String kubeconfig(Path folder) throws IOException {
    return kubeconfig(folder, "http://127.0.0.1:1");
  }

  private static String kubeconfig(Path folder, String server) throws IOException {
    return Files.writeString(
        folder.resolve("kubeconfig"),
        """
            apiVersion: v1
            kind: Config
            current-context: here
            contexts:
            - {name: here, context: {cluster: c, user: c}}
            clusters:
            - {name: c, cluster: {server: "%s"}}
            users:
            - {name: c}
            """.formatted(server)).toString();
  }

  private static void assertOneLine(CommandRun run, int status, String... contains) {
    assertThat(run.status()).as(run.err()).isEqualTo(status);
    assertThat(run.err().strip().lines()).singleElement().asString().contains(contains);
  }

  @Test
  void aClusterThatDoesNotAnswerIsOneLineThatSaysWhatToLookAt(@TempDir Path folder) throws IOException {
    String says = "partita: no API server answers at http://127.0.0.1:1 (context here of " + folder
        + "/kubeconfig): the connection is refused; is the cluster up";
    assertOneLine(CommandRun.of("explain", "pod", "p", "--kubeconfig", kubeconfig(folder)), 1, says);
    assertOneLine(CommandRun.of("web", "--service-account", "team/viewer", "--kubeconfig", kubeconfig(folder)), 1,
        "partita: no token of ServiceAccount team/viewer could be made: the connection is refused; --token-file");
    assertOneLine(CommandRun.of("top", "--kubeconfig", kubeconfig(folder)), 1, says);
    assertOneLine(CommandRun.of("simulate", "fits", "--kubeconfig", kubeconfig(folder)), 1, says);
    String token = Files.writeString(folder.resolve("token"), "secret").toString();
    assertOneLine(CommandRun.of("web", "--token-file", token, "--kubeconfig", kubeconfig(folder)), 1, says);
  }

  @Test
  void aServerWhoseNameIsUnknownIsNotSaidToRefuse(@TempDir Path folder) throws IOException {
    assertOneLine(CommandRun.of("top", "--kubeconfig", kubeconfig(folder, "https://api.cluster.invalid:6443")), 1,
        "partita: no API server answers at https://api.cluster.invalid:6443 (context here of ",
        ": its name cannot be resolved; is the cluster up");
  }

  @Test
  void ofTheAddressNeitherAUserNorASecretIsSaid() {
    Config proxied =
        new ConfigBuilder(Config.empty()).withMasterUrl("https://jo:s/c@ret@api.example:6443/k8s/c-1/?t=hidden")
            .build();
    assertThat(ClusterAnswers.failure(new KubernetesClientException("Operation failed"), proxied).getMessage())
        .startsWith("no API server answers at https://api.example:6443/k8s/c-1: ")
        .doesNotContain("jo", "ret@", "hidden");
  }

  @Test
  void whatIsNoApiServerIsSaidSo(@TempDir Path folder) throws IOException {
    HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    proxy.createContext("/", page -> {
      byte[] text = "<html>Log in</html>".getBytes(StandardCharsets.US_ASCII);
      page.sendResponseHeaders(200, text.length);
      page.getResponseBody().write(text);
      page.close();
    });
    proxy.start();
    try {
      String kubeconfig = kubeconfig(folder, "http://127.0.0.1:" + proxy.getAddress().getPort());
      for (String command : List.of("top", "doctor", "logs claim")) {
        String[] line = (command + " --kubeconfig " + kubeconfig).split(" ", -1);
        assertOneLine(CommandRun.of(line), 1,
            "partita: no API server answers at http://127.0.0.1:" + proxy.getAddress().getPort() + " (context here of ",
            ": something else does, such as a proxy with a page of its own; is the");
      }
    } finally {
      proxy.stop(0);
    }
  }

  @Test
  void aProgramForCredentialsThatGivesNoneIsNamed(@TempDir Path folder) throws IOException {
    Path kubeconfig = Path.of(kubeconfig(folder));
    String file = Files.readString(kubeconfig);
    for (String program : List.of("no-such-program", "false")) {
      Files.writeString(kubeconfig, file.replace("{name: c}\n", """
          {name: c, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: %s, args: [get-token],
            interactiveMode: Never}}}
          """.formatted(program)));
      assertOneLine(CommandRun.of("top", "--kubeconfig", kubeconfig.toString()), 1,
          "partita: '" + program + "', which the kubeconfig at " + kubeconfig
              + " names under exec, gave no credentials: see whether kubectl gets some");
    }
    Path gives = Files.writeString(folder.resolve("gives"), "#!/bin/sh\necho '{\"apiVersion\":"
        + "\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\"}}'\n");
    Files.setPosixFilePermissions(gives, PosixFilePermissions.fromString("rwx------"));
    Files.writeString(kubeconfig, file.replace("{name: c}\n",
        "{name: c, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: %s}}}\n".formatted(gives)));
    assertOneLine(CommandRun.of("top", "--kubeconfig", kubeconfig.toString()), 1, "the connection is refused");
  }

  @Test
  void aProxyWithoutAHostIsOneLine(@TempDir Path folder) throws IOException {
    Path kubeconfig = Path.of(kubeconfig(folder));
    Files.writeString(kubeconfig,
        Files.readString(kubeconfig).replace("{server:", "{proxy-url: \"http:///x\", server:"));
    assertOneLine(CommandRun.of("top", "--kubeconfig", kubeconfig.toString()), 2,
        "partita: no client can be made by this kubeconfig: ", "; look at proxy-url there");
  }

  @Test
  void aContextThatTheKubeconfigDoesNotHaveIsRefusedWithThoseThatItHas(@TempDir Path folder) throws IOException {
    assertOneLine(
        CommandRun.of("explain", "pod", "p", "--kubeconfig", kubeconfig(folder), "--context", "there"), 2,
        "there is no context 'there'", "it has here");
  }

  @Test
  void aKubeconfigThatIsNoneIsOneLine(@TempDir Path folder) throws IOException {
    Path broken = Files.writeString(folder.resolve("broken"), "contexts: {");
    assertOneLine(CommandRun.of("explain", "pod", "p", "--kubeconfig", broken.toString()), 2,
        "broken cannot be read: while parsing");
  }

  private static void refused(Path folder, String text, String says) throws IOException {
    Path file = Files.writeString(folder.resolve("said"), text);
    assertOneLine(CommandRun.of("top", "--kubeconfig", file.toString()), 2, says);
  }

  @Test
  void aKubeconfigThatNamesNoClusterIsSaidSoAndWhatToDo(@TempDir Path folder) throws IOException {
    String another = "; name another by --kubeconfig or KUBECONFIG";
    refused(folder, "", "said is empty" + another);
    refused(folder, " \n# nothing\n", "said is empty" + another);
    refused(folder, "hello", "said is none: it has neither clusters nor contexts" + another);
    refused(folder, "contexts: 5", "said is none: contexts is not what stands there");
    refused(folder, "kind: Config", "said names no cluster" + another);
    refused(folder, "contexts: [{name: a, context: {cluster: c}}, {name: b}]",
        "said has no current context: name one by --context; it has a, b");
    refused(folder, "current-context: x\ncontexts: [{name: a, context: {cluster: c}}]",
        "there is no context 'x' in the kubeconfig; it has a");
    refused(folder, "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]",
        "said has no server for the cluster 'c' of context 'a'" + another);
    assertOneLine(CommandRun.of("top", "--kubeconfig", folder.resolve("none").toString()), 2,
        "there is no kubeconfig at " + folder.resolve("none") + another);
    assertOneLine(CommandRun.of("top", "--kubeconfig", folder.toString()), 2,
        "the kubeconfig at " + folder + " cannot be read: Is a directory");
    Files.write(folder.resolve("bytes"), new byte[]{(byte) 0xff, (byte) 0xfe, 0});
    assertOneLine(CommandRun.of("top", "--kubeconfig", folder.resolve("bytes").toString()), 2,
        "bytes cannot be read: it is not text in UTF-8");
  }

  /** The client takes every key for RSA's, and says that no server answers. */
  @Test
  void aClientKeyOfAnEllipticCurveIsTakenForOneInAFileAsWell(@TempDir Path folder) throws Exception {
    KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
    keys.initialize(new ECGenParameterSpec("secp256r1"));
    String pem = "-----BEGIN PRIVATE KEY-----\n"
        + Base64.getMimeEncoder().encodeToString(keys.generateKeyPair().getPrivate().getEncoded())
        + "\n-----END PRIVATE KEY-----\n";
    Path file = Files.writeString(folder.resolve("key.pem"), pem);
    String data = Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
    assertThat(ClusterClient.keyAlgorithm(new ConfigBuilder(Config.empty()).withClientKeyFile(file.toString()).build()))
        .contains("EC");
    assertThat(ClusterClient.keyAlgorithm(new ConfigBuilder(Config.empty()).withClientKeyData(data).build()))
        .contains("EC");
    assertThat(ClusterClient.keyAlgorithm(Config.empty())).isEmpty();
    assertThat(ClusterClient.keyAlgorithm(
        new ConfigBuilder(Config.empty()).withClientKeyFile(folder.resolve("none").toString()).build())).isEmpty();
  }

  private static String said(int code, String message) {
    return Objects.requireNonNull(ClusterAnswers.failure(
        new KubernetesClientException(message, code, new StatusBuilder().withMessage(message).withCode(code).build()))
        .getMessage());
  }

  @Test
  void eachRefusalOfTheServerSaysWhatToDo() {
    assertThat(said(401, "Unauthorized")).contains("log in anew");
    assertThat(said(403, "gpunodes is forbidden: User \"jo\" cannot list"))
        .isEqualTo("you may not do this: gpunodes is forbidden: User \"jo\" cannot list");
    assertThat(said(404, "the server could not find the requested resource")).contains("is Partita installed here");
    assertThat(said(409, "the object has been modified")).contains("try again");
    assertThat(said(500, "a\nb\u001b[2J")).isEqualTo("the API server refused: a b [2J");
  }

  @Test
  void anObjectThatIsMissingIsNamed() {
    KubernetesClientException missing =
        new KubernetesClientException("", 404,
            new StatusBuilder().withCode(404).withMessage("pods \"p\" not found").withNewDetails().withName("p")
                .endDetails().build());
    assertThat(ClusterAnswers.failure(missing).getMessage()).isEqualTo("not found: pods \"p\" not found");
  }

  @Test
  void whatTheClientCouldNotReachIsSaidByItsRootCause() {
    KubernetesClientException unreachable =
        new KubernetesClientException("Operation failed", new IOException(new IOException("Connection refused")));
    assertThat(ClusterAnswers.failure(unreachable).getMessage())
        .startsWith("no API server answers: Connection refused");
  }
}
