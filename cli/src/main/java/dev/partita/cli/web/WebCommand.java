package dev.partita.cli.web;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.connection.ClusterOptions;
import dev.partita.cli.connection.PartitaNamespaceOption;
import dev.partita.cli.output.Printable;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code partita web}. */
@Command(
    name = "web",
    description = {
      "Opens the web page: nodes and cards, who holds what, pods that wait and why, quotas, and the last day.",
      "",
      "The controller serves it, and the API server forwards a port to it: that needs the right to list pods and to create pods/portforward in the "
          + "namespace of Partita. It shows what the user of the token may list. The token is the kubeconfig's; where that has a client "
          + "certificate instead, one of a ServiceAccount is made for eight hours, which needs the right to create serviceaccounts/token."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita web",
      "  partita web --no-open --port 8090",
      "  partita web --service-account team-a/viewer"
    })
public final class WebCommand implements Callable<Integer> {
  private static final Duration LOOK = Duration.ofSeconds(3);

  @Spec private CommandSpec spec;
  @Mixin private final ClusterOptions cluster = new ClusterOptions();
  @Mixin private final PartitaNamespaceOption partita = new PartitaNamespaceOption();

  @Option(names = "--port", paramLabel = "PORT", defaultValue = "0",
      description = "Port of this machine, on its loopback address. Default: any free one.") private int port;

  @Option(names = "--no-open",
      description = "Prints the page's address, and opens no browser.") private boolean noOpen;

  @Option(names = "--token-file", paramLabel = "FILE",
      description = "Has the bearer token that the page is opened with. Default: the kubeconfig's.") private Optional<Path> tokenFile =
          Optional.empty();

  @Option(names = "--service-account", paramLabel = "NAMESPACE/NAME",
      description = "The page is opened with a token of this ServiceAccount. Default: where the kubeconfig has no token, partita-viewer in Partita's namespace.") private Optional<String> account =
          Optional.empty();

  @Override
  public Integer call() {
    if (port < 0 || port > 65_535) {
      throw CommandFailure.usage("--port is from 0 to 65535, not " + port);
    }
    PrintWriter err = spec.commandLine().getErr();
    try (KubernetesClient client = cluster.client(); PagePort page = new PagePort(client, partita.name())) {
      WebToken token = token(client);
      int local = page.open(port);
      String address = "http://127.0.0.1:" + local + "/#token=" + URLEncoder.encode(token.token(),
          StandardCharsets.UTF_8);
      err.println("The page shows what " + token.whose()
          + " may list. Its address holds the token: whoever has it sees the same. Ctrl-C ends it.");
      PrintWriter out = spec.commandLine().getOut();
      out.println(address);
      out.flush();
      if (!noOpen) {
        Desktop.open(address);
      }
      while (true) {
        pause();
        switch (standing(page)) {
          case BEST -> {}
          case OUTDONE -> {
            err.println("another instance of the controller leads now; going on with its page");
            reopen(page, local);
          }
          case GONE -> {
            err.println("the controller's pod does not answer any more; looking for another one");
            reopen(page, local);
          }
        }
      }
    }
  }

  private WebToken token(KubernetesClient client) {
    if (tokenFile.isPresent()) {
      return WebToken.read(tokenFile.get());
    }
    if (account.isPresent()) {
      return WebToken.made(client, WebToken.Account.of(account.get()));
    }
    return WebToken.ofKubeconfig(client.getConfiguration())
        .orElseGet(() -> WebToken.made(client, new WebToken.Account(partita.name(), "partita-viewer")));
  }

  /** Whoever has a page that answers keeps it while the API server does not say which pods there are. */
  private static PagePort.Standing standing(PagePort page) {
    try {
      return page.standing();
    } catch (CommandFailure e) {
      return PagePort.Standing.BEST;
    }
  }

  private void reopen(PagePort page, int local) {
    page.drop();
    try {
      page.open(local);
    } catch (CommandFailure notYet) {
      spec.commandLine().getErr().println("partita: " + Printable.lines(String.valueOf(notYet.getMessage())));
    }
  }

  private static void pause() {
    try {
      Thread.sleep(LOOK);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted");
    }
  }
}
