package dev.partita.cli.cordon;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.connection.ClusterOptions;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.PrintWriter;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Writes which cards of a node are cordoned. */
final class Cordoning {
  private static final int TRIES = 5;

  private final KubernetesClient client;

  Cordoning(KubernetesClient client) {
    this.client = client;
  }

  /** What is to become of a card. */
  enum Wish {
    CORDON,
    UNCORDON;

    /** The cards that are cordoned then; empty if nothing changes. */
    Optional<List<String>> of(List<String> cordoned, String uuid) {
      if (cordoned.contains(uuid) == (this == CORDON)) {
        return Optional.empty();
      }
      List<String> next = new ArrayList<>(cordoned);
      if (this == CORDON) {
        next.add(uuid);
      } else {
        next.removeIf(uuid::equals);
      }
      return Optional.of(next);
    }

    /** What has become of a card. */
    String done() {
      return this == CORDON ? "cordoned" : "uncordoned";
    }
  }

  /** Carries out a wish for cards as a user names them, and prints a line for each. */
  static void carryOut(Wish wish, List<String> cards, ClusterOptions cluster, PrintWriter out) {
    List<CardName> names = cards.stream().map(CardName::parse).toList();
    try (KubernetesClient client = cluster.client()) {
      Cordoning cordoning = new Cordoning(client);
      for (CardName name : names) {
        out.println(cordoning.carryOut(wish, name));
        out.flush();
      }
    }
  }

  /**
   * Sees to it, whatever others write meanwhile; gives a line that says what was done.
   *
   * @throws CommandFailure if there is no such card
   * @throws KubernetesClientException if the server does not take it
   */
  String carryOut(Wish wish, CardName card) {
    KubernetesClientException conflict = new KubernetesClientException("nothing was tried");
    for (int i = 0; i < TRIES; i++) {
      CardName.Found found = card.in(client.resources(GpuNode.class).list().getItems());
      GpuNodeSpec spec = Objects.requireNonNullElse(found.node().getSpec(), GpuNodeSpec.DEFAULT);
      Optional<List<String>> wanted = wish.of(spec.cordoned(), found.uuid());
      if (wanted.isEmpty()) {
        return "gpu " + found.words() + " already " + wish.done();
      }
      if (wanted.get().size() > GpuNodeSpec.MOST_CORDONED) {
        throw CommandFailure.failed("node " + found.node().getMetadata().getName() + " has " + spec.cordoned().size()
            + " cordoned cards, and more cannot be named; uncordon those that it does not have any more");
      }
      try {
        write(found.node(), wanted.get());
        return "gpu " + found.words() + " " + wish.done();
      } catch (KubernetesClientException e) {
        if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
          throw e;
        }
        conflict = e;
      }
    }
    throw conflict;
  }

  /**
   * Touches nothing else of the spec. A resourceVersion that is replaced is compared: the server answers with a
   * conflict if somebody else wrote since the node was read.
   */
  private void write(GpuNode node, List<String> cordoned) {
    List<Map<String, Object>> patch =
        List.of(
            Map.of("op", "replace", "path", "/metadata/resourceVersion", "value",
                node.getMetadata().getResourceVersion()),
            Map.of("op", "add", "path", "/spec/cordoned", "value", cordoned));
    client.resources(GpuNode.class).withName(node.getMetadata().getName())
        .patch(PatchContext.of(PatchType.JSON), client.getKubernetesSerialization().asJson(patch));
  }
}
