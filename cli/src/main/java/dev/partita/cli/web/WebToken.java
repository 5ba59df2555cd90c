package dev.partita.cli.web;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.connection.ClusterAnswers;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The bearer token that the page is opened with. The page can check no client certificate, which many kubeconfigs have:
 * then a token of a ServiceAccount is made, which is the user's right or not.
 *
 * @param whose for people
 */
record WebToken(String token, String whose) {
  /** A working day. */
  private static final long SECONDS = 8 * 3600L;

  /**
   * A ServiceAccount.
   *
   * @param namespace its own
   */
  record Account(String namespace, String name) {
    /**
     * Reads NAMESPACE/NAME.
     *
     * @throws CommandFailure if it is written in another way
     */
    static Account of(String text) {
      String[] parts = text.split("/", -1);
      if (parts.length != 2 || parts[0].isBlank() || parts[1].isBlank()) {
        throw CommandFailure.usage("--service-account is NAMESPACE/NAME, not '" + text + "'");
      }
      return new Account(parts[0], parts[1]);
    }

    @Override
    public String toString() {
      return namespace + "/" + name;
    }
  }

  /**
   * What a file has.
   *
   * @throws CommandFailure if it cannot be read, or has no token
   */
  static WebToken read(Path file) {
    try {
      String token = Files.readString(file).strip();
      if (token.isEmpty() || token.lines().count() > 1) {
        throw CommandFailure.usage(file + " has no token: it is to have one line");
      }
      return new WebToken(token, "the user of " + file);
    } catch (IOException e) {
      throw CommandFailure.usage(file + " cannot be read: " + FileProblem.why(e));
    }
  }

  /** The kubeconfig's own; empty if its user has none. */
  static Optional<WebToken> ofKubeconfig(Config config) {
    return Stream.of(Optional.ofNullable(config.getOauthToken()), Optional.ofNullable(config.getAutoOAuthToken()))
        .flatMap(Optional::stream)
        .filter(token -> !token.isBlank())
        .findFirst()
        .map(token -> new WebToken(token, "the user of the kubeconfig"));
  }

  /**
   * Makes one of a ServiceAccount.
   *
   * @throws CommandFailure if there is no such account, or the user may not
   */
  static WebToken made(KubernetesClient client, Account account) {
    TokenRequest asked = new TokenRequestBuilder().withNewSpec().withExpirationSeconds(SECONDS).endSpec().build();
    try {
      TokenRequest made = client.serviceAccounts().inNamespace(account.namespace()).withName(account.name())
          .tokenRequest(asked);
      return new WebToken(made.getStatus().getToken(), "ServiceAccount " + account);
    } catch (KubernetesClientException e) {
      throw CommandFailure.failed("no token of ServiceAccount " + account + " could be made: "
          + ClusterAnswers.reason(e) + "; --token-file or --service-account names another");
    }
  }
}
