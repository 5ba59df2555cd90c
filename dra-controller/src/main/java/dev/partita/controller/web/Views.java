package dev.partita.controller.web;

import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.PodExplanation;
import dev.partita.controller.explain.Question;
import dev.partita.controller.fleet.WaitingPod;
import dev.partita.controller.history.History;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import dev.partita.controller.web.view.ClaimsView;
import dev.partita.controller.web.view.HistoryView;
import dev.partita.controller.web.view.NodesView;
import dev.partita.controller.web.view.PodsView;
import dev.partita.controller.web.view.Query;
import dev.partita.controller.web.view.QuotasView;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Answers a viewer's questions about the cluster, as far as he may see it. */
final class Views {
  private static final long PATIENCE_SECONDS = 20;
  private static final String NAME = "[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?";
  private static final Pattern OBJECT =
      Pattern.compile("(?<kind>claim|pod)/(?<namespace>" + NAME + ")/(?<name>" + NAME + ")");
  private static final String LIST_NODES = "list gpunodes.gpu.partita.dev";

  private final ClusterView view;
  private final FleetNow fleet;
  private final History history;
  private final ClaimDetails claims;
  private final Function<Question, CompletionStage<Answer>> explanations;

  /** @param explanations why a pod waits: known where this instance leads */
  Views(
      ClusterView view,
      FleetNow fleet,
      History history,
      ClaimDetails claims,
      Function<Question, CompletionStage<Answer>> explanations) {
    this.view = view;
    this.fleet = fleet;
    this.history = history;
    this.claims = claims;
    this.explanations = explanations;
  }

  /**
   * A pod that waits, or did.
   *
   * @param waiting how it waits; null if it does not
   * @param explanation null where the viewer may not see the nodes, or another instance decides
   * @param hint why there is no explanation, for people; empty if there is one
   */
  record PodView(
      String namespace,
      String name,
      @Nullable WaitingPod waiting,
      @Nullable Explained explanation,
      String hint) {}

  /**
   * How a pod stands, as {@link PodExplanation} says it.
   *
   * @param nodes every node and card, and why it will not do; those together of which the same is said
   */
  record Explained(PodExplanation.State state, String summary, List<PodExplanation.AlikeNodes> nodes) {
    static Explained of(PodExplanation pod) {
      return new Explained(pod.state(), pod.summary(), pod.alike());
    }
  }

  /**
   * Answers one question.
   *
   * @param path such as {@code nodes} or {@code claim/NAMESPACE/NAME}
   */
  Shown of(String path, Query query, Viewer.Look look) {
    try {
      return switch (path) {
        case "nodes" -> look.nodes()
            ? shown(NodesView.of(fleet.fleet(), query, look), look)
            : Shown.Not.allowed(look.name(), LIST_NODES);
        case "history" -> look.nodes()
            ? shown(HistoryView.of(history.samples()), look)
            : Shown.Not.allowed(look.name(), LIST_NODES);
        case "claims" -> shown(ClaimsView.of(fleet.fleet(), query, look), look);
        case "pods" -> shown(PodsView.of(fleet.waiting(), query, look), look);
        case "quotas" -> look.quotas()
            ? shown(QuotasView.of(view.quotas(), fleet.quotaUses(), query, look), look)
            : Shown.Not.allowed(look.name(), "list gpuquotas.gpu.partita.dev");
        default -> object(path, look);
      };
    } catch (KubernetesClientException e) {
      return Shown.Not.now("the API server does not say: " + e.getMessage());
    }
  }

  private Shown object(String path, Viewer.Look look) {
    Matcher object = OBJECT.matcher(path);
    if (!object.matches()) {
      return Shown.Not.found("page " + path);
    }
    String namespace = object.group("namespace");
    String name = object.group("name");
    return object.group("kind").equals("claim")
        ? claim(namespace, name, look)
        : pod(namespace, name, look);
  }

  private static Shown shown(Object view, Viewer.Look look) {
    return new Shown.As(view, look.isComplete());
  }

  private Shown claim(String namespace, String name, Viewer.Look look) {
    if (!look.claimsOf(namespace)) {
      return Shown.Not.allowed(look.name(), "list resourceclaims.resource.k8s.io in namespace " + namespace);
    }
    boolean withEvents = look.eventsOf(namespace);
    long begin = System.nanoTime();
    Optional<ClaimDetails.View> found = claims.of(namespace, name, withEvents);
    look.waitedSince(begin);
    return found.isPresent()
        ? shown(found.get(), look)
        : Shown.Not.found("claim " + name + " in namespace " + namespace);
  }

  private Shown pod(String namespace, String name, Viewer.Look look) {
    if (!look.podsOf(namespace)) {
      return Shown.Not.allowed(look.name(), "list pods in namespace " + namespace);
    }
    @Nullable Pod pod = view.pod(new ObjectKey(namespace, name));
    if (pod == null) {
      return Shown.Not.found("pod " + name + " in namespace " + namespace);
    }
    @Nullable WaitingPod waiting = WaitingPod.of(pod).orElse(null);
    return shown(look.nodes()
        ? explained(namespace, name, waiting, look)
        : new PodView(namespace, name, waiting, null,
            look.name() + " may not " + LIST_NODES + ", so the cards are not shown one by one"),
        look);
  }

  private PodView explained(String namespace, String name, @Nullable WaitingPod waiting, Viewer.Look look) {
    long begin = System.nanoTime();
    CompletableFuture<Answer> asked =
        explanations.apply(new Question(Question.Kind.POD, namespace, name)).toCompletableFuture();
    try {
      return switch (asked.get(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        case Answer.Explained(var pods) when !pods.isEmpty() ->
            new PodView(namespace, name, waiting, Explained.of(pods.getFirst()), "");
        case Answer.Explained _,Answer.Unknown _ ->
            new PodView(namespace, name, waiting, null, "it has no claim that Partita decides about");
        case Answer.NotLeading _ -> new PodView(namespace, name, waiting, null,
            "another instance of the controller leads, and only that one can explain");
      };
    } catch (TimeoutException e) {
      return new PodView(namespace, name, waiting, null, "no explanation came within " + PATIENCE_SECONDS
          + " s, for the controller decides about other pods; it is asked again");
    } catch (ExecutionException e) {
      return new PodView(namespace, name, waiting, null, "no explanation came: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new PodView(namespace, name, waiting, null, "this instance stops");
    } finally {
      asked.cancel(true); // whatever has not been answered by now
      look.waitedSince(begin);
    }
  }
}
