package dev.partita.controller.templates;

import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.admission.convert.ConvertedRequests;
import dev.partita.api.MonotonicClock;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.lru.LruMap;
import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the ResourceClaimTemplates of pods that asked in another system's way, and deletes them when no pod has named
 * them for a while, during one term of leadership. All that is done about a template follows from the view at that
 * moment. So a pod that comes while its template is being deleted gets it again when the view shows that it is gone.
 */
public final class TemplateLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TemplateLoop.class);

  /** kube-controller-manager looks for the template as soon as the pod is there. */
  private static final Duration GATHER = Duration.ofMillis(5);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final int MOST_DOUBLINGS = 9;

  /** Of several pods that wait for the same, so many are told. */
  private static final int TOLD = 10;

  private static final int REMEMBERED = 10_000;

  private sealed interface Work {
    record Look(ObjectKey template) implements Work {}

    /** The last attempt failed, and a while has passed. */
    record Again(ObjectKey template) implements Work {}

    record PodChanged(ObjectKey pod, String uid) implements Work {}
  }

  private record Told(String podUid, String problem) {}

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final ClusterView view;
  private final PodEvents events;
  private final Clock monotonicClock = MonotonicClock.start();
  private final EventLoop<Work> loop;
  private final Consumer<ClusterEvent> listener = this::observe;

  // Only the loop's thread touches what follows.
  private final Idle idle;
  private final ConversionAnnotations annotations = new ConversionAnnotations();
  private final Backoff<ObjectKey> failures = new Backoff<>(FIRST_PAUSE, MOST_DOUBLINGS);
  private final Map<String, Set<ObjectKey>> templatesOfPod = new HashMap<>();
  private final Set<Told> told = Collections.newSetFromMap(new LruMap<>(REMEMBERED));

  /**
   * @param grace how long a template that no pod names is kept
   */
  public TemplateLoop(KubernetesClient client, ApiEdge edge, ClusterView view, PodEvents events, Duration grace) {
    this.client = client;
    this.edge = edge;
    this.view = view;
    this.events = events;
    this.idle = new Idle(grace);
    this.loop = new EventLoop<>("templates", GATHER, this::handle);
  }

  /** Begins. What is to be done about what is there already follows from the pods and templates that the view has. */
  public void start() {
    view.listen(listener);
    view.pods().forEach(pod -> loop.post(new Work.PodChanged(ObjectKey.of(pod), pod.getMetadata().getUid())));
    view.templates().stream().filter(TemplatePlan::isOurs)
        .forEach(template -> loop.post(new Work.Look(ObjectKey.of(template))));
    loop.start();
  }

  @Override
  public void close() {
    view.unlisten(listener);
    loop.close();
  }

  private void observe(ClusterEvent event) {
    switch (event) {
      case ClusterEvent.PodChanged(ObjectKey pod, String uid) -> loop.post(new Work.PodChanged(pod, uid));
      case ClusterEvent.TemplateChanged(ObjectKey template) -> {
        if (ClaimTemplate.isName(template.name())) {
          loop.post(new Work.Look(template));
        }
      }
      case ClusterEvent.ClaimChanged _ -> {}
      case ClusterEvent.ClassChanged _ -> {}
      case ClusterEvent.GpuNodeChanged _ -> {}
      case ClusterEvent.NamespaceChanged _ -> {}
      case ClusterEvent.NodeChanged _ -> {}
      case ClusterEvent.QuotaChanged _ -> {}
      case ClusterEvent.OtherSliceChanged _ -> {}
      case ClusterEvent.SliceChanged _ -> {}
      case ClusterEvent.TaintRuleChanged _ -> {}
      case ClusterEvent.PodGroupChanged _ -> {}
    }
  }

  private void handle(Set<Work> batch) {
    Set<ObjectKey> templates = new LinkedHashSet<>();
    for (Work work : batch) {
      switch (work) {
        case Work.Look(ObjectKey template) -> templates.add(template);
        case Work.Again(ObjectKey template) -> {
          failures.tried(template);
          templates.add(template);
        }
        case Work.PodChanged(ObjectKey pod, String uid) -> templates.addAll(templatesOf(pod, uid));
      }
    }
    templates.forEach(this::look);
  }

  /** What the pod names, also if it has gone in the meantime. */
  private Set<ObjectKey> templatesOf(ObjectKey key, String uid) {
    @Nullable Pod pod = view.pod(key);
    if (pod == null || !pod.getMetadata().getUid().equals(uid)) {
      return Objects.requireNonNullElse(templatesOfPod.remove(uid), Set.of());
    }
    Set<String> names = TemplatePlan.names(pod);
    if (names.isEmpty()) {
      return Set.of();
    }
    if (ConversionAnnotations.namesTooMany(pod)) {
      tell(List.of(pod), "no ResourceClaimTemplate is made for a pod that names more than " + ConvertedRequests.MOST
          + " of them: " + names.size());
    }
    Set<ObjectKey> templates = new LinkedHashSet<>();
    names.forEach(name -> templates.add(new ObjectKey(key.namespace(), name)));
    templatesOfPod.put(uid, templates);
    return templates;
  }

  private void look(ObjectKey key) {
    try {
      TemplatePlan plan =
          TemplatePlan.of(key.namespace(), key.name(), view.template(key), view.podsOfTemplate(key), annotations);
      if (!(plan instanceof TemplatePlan.Unused)) {
        idle.forget(key);
      }
      switch (plan) {
        case TemplatePlan.Keep _ -> {}
        case TemplatePlan.Make(ResourceClaimTemplate template, List<Pod> waiting) -> make(key, template, waiting);
        case TemplatePlan.Tell(List<Pod> pods, String problem) -> tell(pods, problem);
        case TemplatePlan.Unused(ResourceClaimTemplate template) -> unused(key, template);
      }
      failures.succeeded(key);
    } catch (ApiEdge.NotLeadingException e) {
      LOG.debug("template {}: left to the next leader", key);
    } catch (RuntimeException e) {
      Optional<Duration> pause = failures.failed(key);
      LOG.warn("template {}: {}; trying again{}", key, e.getMessage(),
          pause.map(time -> " in " + time.toMillis() / 1000.0 + " s").orElse(""));
      pause.ifPresent(time -> loop.postAfter(time, new Work.Again(key)));
    }
  }

  private void make(ObjectKey key, ResourceClaimTemplate template, List<Pod> waiting) {
    try {
      edge.in(template.getMetadata().getNamespace()).write(WriteKind.TEMPLATE,
          () -> client.resource(template).create());
      LOG.info("template {}: made for pod {}", key, ObjectKey.of(waiting.getFirst()));
    } catch (RuntimeException e) {
      if (ApiEdge.isConflict(e) || ApiEdge.isNamespaceEnding(e)) {
        // it is there, which the view will show; or nobody needs it any more
        LOG.debug("template {}: {}", key, e.getMessage());
        return;
      }
      if (!(e instanceof ApiEdge.NotLeadingException)) {
        tell(waiting, "ResourceClaimTemplate " + key.name() + " could not be made, is tried again: " + e.getMessage());
      }
      throw e;
    }
  }

  private void unused(ObjectKey key, ResourceClaimTemplate template) {
    if (template.getMetadata().getDeletionTimestamp() != null) {
      return;
    }
    Duration left = idle.left(key, template.getMetadata().getUid(), monotonicClock.instant());
    if (left.isPositive()) {
      loop.postAfter(left.plusMillis(1), new Work.Look(key)); // not before it is over
      return;
    }
    try {
      // In this version only: one that was changed, or made anew, is looked at anew.
      edge.in(template.getMetadata().getNamespace()).write(WriteKind.TEMPLATE,
          () -> client.resource(template).lockResourceVersion(template.getMetadata().getResourceVersion()).delete());
      LOG.info("template {}: deleted, for no pod names it", key);
    } catch (RuntimeException e) {
      if (!ApiEdge.isConflict(e) && !ApiEdge.isNotFound(e)) {
        throw e;
      }
      LOG.debug("template {}: changed meanwhile", key);
    }
  }

  private void tell(List<Pod> pods, String problem) {
    pods.stream()
        .limit(TOLD)
        .map(Pod::getMetadata)
        .filter(pod -> told.add(new Told(pod.getUid(), problem)))
        .forEach(pod -> events.warn(pod.getNamespace(), pod.getName(), pod.getUid(), "TemplateNotMade", "MakeTemplate",
            problem));
  }
}
