package dev.partita.cli.trail;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.connection.ClusterAnswers;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.BytesLimitTerminateTimeTailPrettyLoggable;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads all that is known of a claim. */
final class TrailReader {
  private static final int MOST_PODS = 20;
  private static final int MOST_LOG_BYTES = 8 << 20;
  private static final int MOST_LOG_LINES = 20_000;
  private static final String PODS = "pods";
  private static final String PODGROUPS = "podgroups";
  private static final String NAME_LABEL = "app.kubernetes.io/name";

  private final KubernetesClient client;
  private final String partita;
  private final Consumer<String> notes;

  /**
   * @param partita namespace of Partita's own pods
   * @param notes told what could not be read, in a line each
   */
  TrailReader(KubernetesClient client, String partita, Consumer<String> notes) {
    this.client = client;
    this.partita = partita;
    this.notes = notes;
  }

  /**
   * By time.
   *
   * @throws CommandFailure if there is no such claim
   */
  List<Entry> read(String namespace, String name) {
    @Nullable ResourceClaim claim =
        client.resources(ResourceClaim.class).inNamespace(namespace).withName(name).get();
    if (claim == null) {
      throw CommandFailure.failed("there is no claim " + namespace + "/" + name);
    }
    List<Entry> entries = new ArrayList<>(Trail.claim(claim));
    entries.addAll(events(namespace, "ResourceClaim", name, claim.getMetadata().getUid()));
    Set<String> names = new LinkedHashSet<>(List.of(namespace + "/" + name, claim.getMetadata().getUid()));
    for (ResourceClaimConsumerReference group : users(claim, PODGROUPS)) {
      names.add(namespace + "/" + group.getName());
      entries.addAll(events(namespace, "PodGroup", group.getName(), group.getUid()));
    }
    for (ResourceClaimConsumerReference user : pods(claim)) {
      String pod = user.getName();
      names.add(namespace + "/" + pod);
      entries.addAll(events(namespace, "Pod", pod, user.getUid()));
      entries.addAll(unlessRefused("pod " + pod,
          () -> Optional.ofNullable(client.pods().inNamespace(namespace).withName(pod).get()).map(Trail::pod)
              .orElse(List.of())));
    }
    entries.addAll(logs(AllocatedClaim.nodeOfOurs(claim), names));
    return Trail.byTime(entries);
  }

  /** The pods that it is reserved for. One that is reserved for a PodGroup (KEP-5729) names none, but they name it. */
  private List<ResourceClaimConsumerReference> pods(ResourceClaim claim) {
    if (users(claim, PODGROUPS).isEmpty()) {
      return users(claim, PODS);
    }
    String namespace = claim.getMetadata().getNamespace();
    ObjectKey key = ObjectKey.of(claim);
    return unlessRefused("pods in namespace " + namespace,
        () -> client.pods().inNamespace(namespace).list().getItems().stream()
            .filter(pod -> PodClaims.of(pod).orElse(List.of()).contains(key))
            .map(Pod::getMetadata)
            .map(pod -> new ResourceClaimConsumerReference("", pod.getName(), PODS, pod.getUid()))
            .limit(MOST_PODS).toList());
  }

  private static List<ResourceClaimConsumerReference> users(ResourceClaim claim, String resource) {
    List<ResourceClaimConsumerReference> users =
        claim.getStatus() == null ? List.of() : claim.getStatus().getReservedFor();
    return users.stream().filter(user -> resource.equals(user.getResource())).limit(MOST_PODS).toList();
  }

  private List<Entry> events(String namespace, String kind, String name, String uid) {
    return unlessRefused("events of " + kind + " " + name, () -> {
      List<Event> events =
          client.v1().events().inNamespace(namespace).withField("involvedObject.name", name).list().getItems();
      return Trail.events(Trail.about(kind, uid, events));
    });
  }

  /** Lines of every controller, for another one may have led, and of the plugin on the claim's node. */
  private List<Entry> logs(Optional<String> node, Set<String> names) {
    List<Entry> entries = new ArrayList<>();
    entries.addAll(unlessRefused("logs in namespace " + partita, () -> {
      List<Entry> lines = new ArrayList<>();
      for (Pod pod : client.pods().inNamespace(partita).list().getItems()) {
        String role = pod.getMetadata().getLabels() == null
            ? ""
            : pod.getMetadata().getLabels().getOrDefault(NAME_LABEL, "");
        boolean its = role.equals("dra-controller")
            || (role.equals("kubelet-plugin") && node.filter(it -> it.equals(pod.getSpec().getNodeName())).isPresent());
        if (its) {
          String name = pod.getMetadata().getName();
          if (hasRunBefore(pod)) {
            lines.addAll(unlessRefused("log of the run before of pod " + name,
                () -> Trail.log(role, log(name, true), names)));
          }
          lines.addAll(unlessRefused("log of pod " + name, () -> Trail.log(role, log(name, false), names)));
        }
      }
      return lines;
    }));
    return entries;
  }

  /** Whether its container was started anew: kubelet keeps the log of the run before, and of none earlier. */
  private static boolean hasRunBefore(Pod pod) {
    return pod.getStatus() != null && pod.getStatus().getContainerStatuses().stream()
        .anyMatch(container -> container.getLastState() != null && container.getLastState().getTerminated() != null);
  }

  /**
   * Not by limitBytes: the API server ends a log there, and the newest lines are those that are missing.
   *
   * @param before that of the run before
   */
  private String log(String pod, boolean before) {
    BytesLimitTerminateTimeTailPrettyLoggable its =
        client.pods().inNamespace(partita).withName(pod).usingTimestamps();
    try (InputStream log = (before ? its.terminated() : its).tailingLines(MOST_LOG_LINES).getLogInputStream()) {
      LogTail tail = LogTail.of(log, MOST_LOG_BYTES);
      if (tail.isCut() || tail.lines() >= MOST_LOG_LINES) {
        notes.accept("log of pod " + pod + " is long: lines from before "
            + tail.text().lines().findFirst().map(line -> line.split(" ", 2)[0]).orElse("now")
            + " are left out; kubectl logs -n " + partita + " " + pod + (before ? " --previous" : "") + " has them");
      }
      return tail.text();
    } catch (IOException e) {
      throw new KubernetesClientException(FileProblem.why(e), e);
    }
  }

  private <T> List<T> unlessRefused(String what, Supplier<List<T>> read) {
    try {
      return read.get();
    } catch (KubernetesClientException e) {
      notes.accept(what + " cannot be read: " + ClusterAnswers.reason(e));
      return List.of();
    }
  }
}
