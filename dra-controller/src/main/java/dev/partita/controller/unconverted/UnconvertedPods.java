package dev.partita.controller.unconverted;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.dialect.Dialect;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells each {@link UnconvertedPod} once, by an event, why it waits. Admission lets a pod pass unchanged while no
 * controller answers, and such a pod would wait for ever. Runs during one term of leadership.
 */
public final class UnconvertedPods implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UnconvertedPods.class);
  private static final Duration GATHER = Duration.ofMillis(100);

  /**
   * After a failure of the API server, which may pass before the pod changes; after the next one twice as long, up to
   * 11 minutes.
   */
  private static final Duration PAUSE = Duration.ofSeconds(10);
  private static final int MOST_DOUBLINGS = 6;

  /**
   * Asks to look at a pod.
   *
   * @param isAgain whether it comes after a pause, since the pod could not be told before
   */
  private record Look(ObjectKey pod, String uid, boolean isAgain) {}

  private final KubernetesClient client;
  private final ClusterView view;
  private final PodEvents events;
  private final Set<String> leftAlone;
  private final EventLoop<Look> loop;
  private final Consumer<ClusterEvent> listener = this::observe;

  // Only the loop's thread touches what follows.
  private final Set<String> told = new HashSet<>();
  private final Set<String> triedAgain = new HashSet<>(); // UIDs of those that are to be looked at after a pause
  private final Backoff<String> failures; // by UID

  /** @param namespace of the controller, whose pods admission leaves as they are */
  public UnconvertedPods(KubernetesClient client, ClusterView view, PodEvents events, String namespace) {
    this(client, view, events, namespace, PAUSE);
  }

  /** @param pause before a pod is looked at again that could not be told once */
  UnconvertedPods(KubernetesClient client, ClusterView view, PodEvents events, String namespace, Duration pause) {
    this.failures = new Backoff<>(pause, MOST_DOUBLINGS);
    this.client = client;
    this.view = view;
    this.events = events;
    this.leftAlone = Set.of("kube-system", namespace);
    this.loop = new EventLoop<>("unconverted", GATHER, looks -> looks.forEach(this::look));
  }

  /** Begins with the pods that are there already. */
  public void start() {
    view.listen(listener);
    view.pods().forEach(pod -> loop.post(new Look(ObjectKey.of(pod), pod.getMetadata().getUid(), false)));
    loop.start();
  }

  @Override
  public void close() {
    view.unlisten(listener);
    loop.close();
  }

  private void observe(ClusterEvent event) {
    if (event instanceof ClusterEvent.PodChanged(ObjectKey pod, String uid)) {
      loop.post(new Look(pod, uid, false));
    }
  }

  private void look(Look look) {
    if (look.isAgain()) {
      triedAgain.remove(look.uid());
      failures.tried(look.uid());
    }
    @Nullable Pod pod = view.pod(look.pod());
    if (pod == null || !pod.getMetadata().getUid().equals(look.uid())) {
      told.remove(look.uid());
      failures.succeeded(look.uid());
      return;
    }
    if (told.contains(look.uid()) || triedAgain.contains(look.uid()) || isLeftAlone(pod)) {
      return;
    }
    Collection<String> missing = UnconvertedPod.missing(pod, this::isOffered);
    if (missing.isEmpty() || isTold(look, missing)) {
      failures.succeeded(look.uid());
    } else {
      failures.failed(look.uid()).ifPresent(pause -> {
        triedAgain.add(look.uid());
        loop.postAfter(pause, new Look(look.pod(), look.uid(), true));
      });
    }
  }

  /** Whether it was told what it waits for, or there is nothing to tell; false where the API server failed. */
  private boolean isTold(Look look, Collection<String> missing) {
    @Nullable Pod whole;
    try {
      whole = client.pods().inNamespace(look.pod().namespace()).withName(look.pod().name()).get();
    } catch (KubernetesClientException e) {
      LOG.debug("pod {}: cannot be read: {}", look.pod(), e.getMessage());
      return false;
    }
    if (whole == null || !whole.getMetadata().getUid().equals(look.uid())) {
      return true;
    }
    boolean isTold =
        UnconvertedPod.note(missing, client.getKubernetesSerialization().convertValue(whole, ObjectNode.class))
            .map(note -> events.warn(look.pod().namespace(), look.pod().name(), look.uid(), "NotConverted",
                "ConvertPod", note))
            .orElse(true);
    return isTold && told.add(look.uid());
  }

  private boolean isLeftAlone(Pod pod) {
    String name = pod.getMetadata().getNamespace();
    @Nullable Namespace namespace = view.namespace(name);
    return leftAlone.contains(name) || UnconvertedPod.isLeftAlone(pod.getMetadata())
        || (namespace != null && UnconvertedPod.isLeftAlone(namespace.getMetadata()));
  }

  /**
   * By a device plugin, or by a DRA driver whose class stands for the resource (KEP-5004): a class of ours on nodes
   * where kube-scheduler allocates.
   */
  private boolean isOffered(String resource) {
    return (Dialect.of(resource).equals(Optional.of(Dialect.DEVICE_CLASS))
        && view.gpuNodes().stream().anyMatch(GpuNode::isLeftToScheduler))
        || view.deviceClasses().stream().anyMatch(each -> resource.equals(each.getSpec().getExtendedResourceName()))
        || view.nodes().stream().anyMatch(node -> UnconvertedPod.isOffered(node, resource));
  }
}
