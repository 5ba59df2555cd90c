package dev.partita.controller;

import dev.partita.serving.access.FaultyApiServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.server.mock.crud.KubernetesCrudDispatcherException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.crud.Attribute;
import io.fabric8.mockwebserver.crud.AttributeSet;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What a real API server does and the mock does not: conflicts of status updates, conditions of deletions, evictions.
 */
final class ServerRules extends FaultyApiServer {
  /** The User-Agent of controllers; tests have others. */
  static final String CONTROLLER = "controller-under-test";

  private static final String EVICTION = "/eviction";

  private static final Duration QUIET = Duration.ofMillis(200);

  private volatile long lastWrite = System.nanoTime();
  private final Map<String, AttributeSet> byName = new ConcurrentHashMap<>();
  private final Set<String> disrupted = ConcurrentHashMap.newKeySet();
  private final Set<String> protectedBySeveral = ConcurrentHashMap.newKeySet();
  private final AtomicInteger disruptionsAllowed = new AtomicInteger(Integer.MAX_VALUE);
  private final Set<String> undefined = ConcurrentHashMap.newKeySet();
  private final Set<String> forbidden = ConcurrentHashMap.newKeySet();
  private final Set<String> disowned = ConcurrentHashMap.newKeySet();
  private final AtomicInteger refusals = new AtomicInteger();
  private final Queue<Runnable> untold = new ConcurrentLinkedQueue<>();
  private volatile Predicate<GenericKubernetesResource> late = changed -> false;
  private volatile boolean inOrder;
  private final Set<String> cutOff = ConcurrentHashMap.newKeySet();

  /**
   * Puts objects there at once, before anybody watches: as many as would take minutes to be created one by one.
   *
   * @param path that they are created at
   */
  void put(String path, List<? extends HasMetadata> objects) {
    for (HasMetadata object : objects) {
      object.getMetadata().setUid(UUID.randomUUID().toString());
      object.getMetadata().setResourceVersion(Long.toString(requestResourceVersion()));
      object.getMetadata().setCreationTimestamp(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
      String json = Serialization.asJson(object);
      AttributeSet key = AttributeSet.merge(attributeExtractor.fromPath(path), attributeExtractor.fromResource(json));
      map.put(key, json);
      index(key);
    }
  }

  /** The mock compares with every object that there is. */
  @Override
  public Map.@Nullable Entry<AttributeSet, String> findResource(AttributeSet wanted) {
    Optional<String> name = name(wanted);
    if (name.isEmpty()) {
      return super.findResource(wanted);
    }
    @Nullable AttributeSet key = byName.get(name.get());
    @Nullable String json = key == null ? null : map.get(key);
    return key == null || json == null ? null : Map.entry(key, json);
  }

  @Override
  public void processEvent(
      String path,
      AttributeSet ofPath,
      AttributeSet before,
      @Nullable GenericKubernetesResource object,
      @Nullable String now) {
    Optional.ofNullable(before).flatMap(ServerRules::name).ifPresent(byName::remove);
    if (now == null) {
      tellLate();
      super.processEvent(path, ofPath, before, object, now);
      return;
    }
    if (before == null) {
      tellLate();
    }
    AttributeSet key = AttributeSet.merge(ofPath, attributeExtractor.fromResource(now));
    index(key); // before those who watch are told, and ask
    @Nullable String shown = before == null ? null : map.get(before);
    if (shown == null || !late.test(Serialization.unmarshal(now, GenericKubernetesResource.class))) {
      super.processEvent(path, ofPath, before, object, now);
      return;
    }
    map.remove(before);
    map.put(key, now);
    untold.add(() -> {
      map.put(key, shown);
      super.processEvent(path, ofPath, key, object, now);
    });
  }

  /** From now on those who watch are told of a change to such an object by {@link #tellAll} and not before. */
  void delay(Predicate<GenericKubernetesResource> changed) {
    late = changed;
  }

  /**
   * The same for all objects of a kind. They are told of the changes, in order, before one of any kind is made or goes,
   * too.
   */
  void delayKind(String kind) {
    inOrder = true;
    late = changed -> kind.equals(changed.getKind());
  }

  private void tellLate() {
    if (inOrder) {
      tell();
    }
  }

  /** Makes up for {@link #delay}. */
  void tellAll() {
    late = changed -> false;
    tell();
  }

  private void tell() {
    for (Runnable telling = untold.poll(); telling != null; telling = untold.poll()) {
      telling.run();
    }
  }

  private void index(AttributeSet key) {
    name(key).ifPresent(name -> byName.put(name, key));
  }

  /** What an object is found by; empty if that is not all of it. */
  private static Optional<String> name(AttributeSet attributes) {
    @Nullable Attribute plural = attributes.getAttribute("plural");
    @Nullable Attribute name = attributes.getAttribute("name");
    return plural == null || name == null
        ? Optional.empty()
        : Optional.of(
            attributes.getAttribute("api") + "/" + plural + "/" + attributes.getAttribute("namespace") + "/" + name);
  }

  /** From now on a PodDisruptionBudget forbids the pod's eviction. */
  void protect(String pod) {
    disrupted.add(pod);
  }

  /** From now on several PodDisruptionBudgets select the pod. */
  void protectBySeveral(String pod) {
    protectedBySeveral.add(pod);
  }

  /** From now on a PodDisruptionBudget of all pods allows so many to be evicted; on trial none is counted. */
  void allowDisruptions(int most) {
    disruptionsAllowed.set(most);
  }

  /** Makes up for {@link #protect}. */
  void protectNobody() {
    disrupted.clear();
  }

  /** From now on nobody may write what has this at the end of its path. */
  void forbid(String pathEnd) {
    forbidden.add(pathEnd);
  }

  /** Makes up for {@link #forbid}. */
  void permit(String pathEnd) {
    forbidden.remove(pathEnd);
  }

  /** From now on nobody's token is this one: it is over, or its ServiceAccount was deleted. */
  void disown(String token) {
    disowned.add(token);
  }

  /** From now on none of the controller's requests is answered well: to others it is as if it were dead. */
  void cutOff(String identity) {
    cutOff.add(CONTROLLER + "/" + identity);
  }

  /** Makes up for {@link #cutOff}. */
  void reconnectAll() {
    cutOff.clear();
  }

  /** How many writes were forbidden. */
  int refusals() {
    return refusals.get();
  }

  /** From now on there is no CustomResourceDefinition of that plural. */
  void undefine(String plural) {
    undefined.add(plural);
  }

  /** Makes up for {@link #undefine}. */
  void define(String plural) {
    undefined.remove(plural);
  }

  /**
   * Waits until nobody has written for a moment. The mock's one thread stands still for a minute when a watch is closed
   * for which it has an event to send: it waits for that to be sent, which it would have to do itself.
   */
  void awaitQuiet() {
    try {
      Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> System.nanoTime() - lastWrite > QUIET.toNanos());
    } catch (ConditionTimeoutException e) {
      // then it may take the minute
    }
  }

  @Override
  public MockResponse handleGet(String path) {
    if (path.equals("/version")) {
      return new MockResponse().setResponseCode(200).setBody("{\"major\": \"1\", \"minor\": \"36\"}");
    }
    // The mock selects by labels, and by names and namespaces alone.
    String known = path.contains("/events?") ? path.substring(0, path.indexOf('?')) : path;
    return undefined.stream().anyMatch(plural -> known.contains("/" + plural))
        ? answer(404, "NotFound")
        : super.handleGet(known);
  }

  @Override
  public MockResponse handleUpdate(RecordedRequest request) {
    lastWrite = System.nanoTime();
    return super.handleUpdate(request);
  }

  @Override
  public MockResponse handleCreate(RecordedRequest request) {
    lastWrite = System.nanoTime();
    String path = request.getPath();
    if (path.endsWith("/tokenreviews")) {
      return review(request, TokenReview.class, this::authenticated);
    }
    if (path.endsWith("/subjectaccessreviews")) {
      return review(request, SubjectAccessReview.class, ServerRules::authorized);
    }
    return path.endsWith(EVICTION) ? evict(request) : super.handleCreate(request);
  }

  private static <T> MockResponse review(RecordedRequest request, Class<T> type, UnaryOperator<T> answer) {
    return new MockResponse().setResponseCode(201)
        .setBody(Serialization.asJson(answer.apply(Serialization.unmarshal(body(request), type))));
  }

  /** A token is its user's name. */
  private TokenReview authenticated(TokenReview asked) {
    String token = asked.getSpec().getToken();
    return disowned.contains(token)
        ? new TokenReviewBuilder(asked).withNewStatus().withAuthenticated(false).endStatus().build()
        : new TokenReviewBuilder(asked).withNewStatus().withAuthenticated(true).withNewUser().withUsername(token)
            .endUser().endStatus().build();
  }

  /**
   * prometheus may read metrics, admin whatever there is, of-team what is in the namespace team, and viewer in the
   * namespace default what the role view lets one read, which knows events as the core's alone.
   */
  private static SubjectAccessReview authorized(SubjectAccessReview asked) {
    ResourceAttributes resource = asked.getSpec().getResourceAttributes();
    boolean allowed = switch (asked.getSpec().getUser()) {
      case "prometheus" -> resource == null;
      case "admin" -> true;
      case "viewer" -> resource != null && "default".equals(resource.getNamespace())
          && !"events.k8s.io".equals(resource.getGroup());
      case "of-team" -> resource != null && "team".equals(resource.getNamespace());
      default -> false;
    };
    return new SubjectAccessReviewBuilder(asked).withNewStatus().withAllowed(allowed).endStatus().build();
  }

  @Override
  public MockResponse handlePatch(RecordedRequest request) {
    lastWrite = System.nanoTime();
    return super.handlePatch(request);
  }

  @Override
  public MockResponse handleDelete(String path) {
    lastWrite = System.nanoTime();
    return super.handleDelete(path);
  }

  @Override
  protected Fault faultOf(RecordedRequest request) {
    String agent = String.valueOf(request.getHeader("User-Agent"));
    if (!agent.startsWith(CONTROLLER)) {
      return Fault.NONE;
    }
    SentRequests.record(request.getMethod(), request.getPath());
    return cutOff.contains(agent) ? Fault.BROKEN : super.faultOf(request);
  }

  /** The mock deletes whatever version there is. */
  @Override
  protected MockResponse answered(RecordedRequest request) {
    if (isForbidden(request)) {
      refusals.incrementAndGet();
      return answer(403, "Forbidden");
    }
    return "DELETE".equals(request.getMethod()) && isOfAnotherVersionThanWanted(request)
        ? answer(409, "Conflict")
        : super.answered(request);
  }

  private boolean isForbidden(RecordedRequest request) {
    String path = request.getPath().replaceFirst("\\?.*", "");
    return !"GET".equals(request.getMethod()) && forbidden.stream().anyMatch(path::endsWith);
  }

  private boolean isOfAnotherVersionThanWanted(RecordedRequest request) {
    try {
      String body = body(request);
      String wanted = body.isEmpty() ? "" : asNode(body).path("preconditions").path("resourceVersion").asText();
      Map.@Nullable Entry<AttributeSet, String> current = findResource(getKey(request.getPath()));
      return !wanted.isEmpty() && current != null && !wanted.equals(version(asNode(current)));
    } catch (KubernetesCrudDispatcherException e) {
      return false; // for the mock to refuse
    }
  }

  private boolean isOfAnother(String pod, String eviction) {
    try {
      String wanted = asNode(eviction).path("deleteOptions").path("preconditions").path("uid").asText();
      Map.@Nullable Entry<AttributeSet, String> current = findResource(getKey(pod));
      return !wanted.isEmpty() && current != null
          && !wanted.equals(asNode(current).path("metadata").path("uid").asText());
    } catch (KubernetesCrudDispatcherException e) {
      return false; // for the mock to refuse
    }
  }

  private MockResponse evict(RecordedRequest request) {
    String pod = request.getPath().substring(0, request.getPath().length() - EVICTION.length());
    String name = pod.substring(pod.lastIndexOf('/') + 1);
    if (protectedBySeveral.contains(name)) {
      return answer(500,
          "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
    }
    if (disrupted.contains(name) || disruptionsAllowed.get() == 0) {
      return answer(429, "TooManyRequests");
    }
    if (isOfAnother(pod, body(request))) {
      return answer(409, "Conflict");
    }
    if (!body(request).contains("\"dryRun\":[\"All\"]")) {
      disruptionsAllowed.decrementAndGet();
      handleDelete(pod);
    }
    return answer(201, "");
  }
}
