package dev.partita.cli.resize;

import dev.partita.api.Driver;
import dev.partita.api.resize.SizeRequest;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.SpanConverter;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.connection.ClusterOptions;
import dev.partita.cli.connection.NamespaceOption;
import dev.partita.cli.connection.ObjectName;
import dev.partita.cli.output.Printable;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code partita resize}. */
@Command(
    name = "resize",
    description = {
      "Gives the shares of a claim another size while programs use them.",
      "",
      "It writes the annotation gpu.partita.dev/resize, which needs the right to patch the claim, and waits for the answer and for the size to be in force. "
          + "A smaller size is in force once the share's processes hold no more than that.",
      "",
      "Exit status 1: it was refused, or is not in force after --timeout; it goes on all the same."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita resize training-gpu-x7k2p --memory 12Gi --cores 40",
      "  partita resize pair -n team-a --request left --memory 4Gi"
    })
public final class ResizeCommand implements Runnable {
  private static final Set<String> KINDS = Set.of("claim", "claims", "resourceclaim", "resourceclaims");
  private static final int POLL_SECONDS_MOST = 24 * 60 * 60;

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "[claim] NAME", arity = "1..2", hideParamSyntax = true,
      description = "Name of the ResourceClaim; claim/NAME does as well.") private List<String> words;

  @Option(names = "--memory", paramLabel = "AMOUNT",
      description = "Memory that each share is to have, such as 12Gi. Default: as it is.") private Optional<String> memory =
          Optional.empty();

  @Option(names = "--cores", paramLabel = "PERCENT",
      description = "Percent of the card's time that each is to have. Default: as it is.") private Optional<Integer> cores =
          Optional.empty();

  @Option(names = "--request", paramLabel = "NAME",
      description = "Only the shares of this request of the claim. Default: all.") private Optional<String> request =
          Optional.empty();

  @Option(names = "--timeout", paramLabel = "SPAN", defaultValue = "60s", converter = SpanConverter.class,
      description = "How long to wait, such as 5m; 0s to ask only. Default: ${DEFAULT-VALUE}.") private Duration timeout;

  @Mixin private NamespaceOption namespace;
  @Mixin private ClusterOptions cluster;

  @Override
  public void run() {
    String name = name();
    String asked = asked();
    try {
      var _ = SizeRequest.parse(asked);
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage(String.valueOf(e.getMessage()));
    }
    PrintWriter out = spec.commandLine().getOut();
    try (KubernetesClient client = cluster.client()) {
      Resource<ResourceClaim> claim =
          client.resources(ResourceClaim.class).inNamespace(namespace.of(client)).withName(name);
      @Nullable ResourceClaim before = claim.get();
      if (before == null) {
        throw CommandFailure.failed("there is no ResourceClaim " + namespace.of(client) + "/" + name);
      }
      claim.patch(PatchContext.of(PatchType.JSON_MERGE), client.getKubernetesSerialization()
          .asJson(Map.of("metadata", Map.of("annotations", Map.of(Driver.RESIZE_ANNOTATION, asked)))));
      out.println("resourceclaim " + name + ": asked for " + asked);
      out.flush();
      if (!timeout.isZero()) {
        out.println("resourceclaim " + name + ": " + Printable.text(awaitInForce(name, claim, asked, out)));
      }
    }
  }

  /** Kubectl's users name the kind first. */
  private String name() {
    List<String> parts = words.size() == 1 ? List.of(words.getFirst().split("/", 2)) : words;
    if (parts.size() == 2 && !KINDS.contains(parts.getFirst())) {
      throw new ParameterException(spec.commandLine(),
          "'" + String.join(" ", words) + "' is not one claim: give its name, or claim NAME");
    }
    return ObjectName.checked(parts.getLast());
  }

  private String asked() {
    if (memory.isEmpty() && cores.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "what to change is missing: --memory or --cores");
    }
    String of = request.map(its -> its + ".").orElse("");
    StringJoiner amounts = new StringJoiner(",");
    memory.ifPresent(amount -> amounts.add(of + "memory=" + amount));
    cores.ifPresent(percent -> amounts.add(of + "cores=" + percent));
    return amounts.toString();
  }

  private String awaitInForce(String name, Resource<ResourceClaim> claim, String asked, PrintWriter out) {
    AtomicReference<ResizeProgress> last = new AtomicReference<>(new ResizeProgress.Unanswered());
    int seconds = (int) Math.min(timeout.toSeconds(), POLL_SECONDS_MOST);
    return Waiting.upTo(seconds, "the new size to be in force; it goes on all the same", () -> {
      ResizeProgress now = ResizeProgress.of(claim.get(), asked);
      if (!now.equals(last.getAndSet(now)) && now instanceof ResizeProgress.UnderWay(String words)) {
        out.println("resourceclaim " + name + ": " + Printable.text(words));
        out.flush();
      }
      return switch (now) {
        case ResizeProgress.Unanswered _ -> Waiting.notYet(
            "no controller has answered; is the claim allocated, and does 'partita doctor' find a controller?");
        case ResizeProgress.UnderWay(String words) -> Waiting.notYet(words);
        case ResizeProgress.Refused(String words) -> throw CommandFailure.failed(words);
        case ResizeProgress.InForce(String words) -> Waiting.done(words);
      };
    });
  }
}
