package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A pod in a test's namespace, with one container {@code main}.
 *
 * @param workspace where it is
 * @param name of the pod
 */
public record PodUnderTest(Workspace workspace, String name) {
  private static final Duration LOG_BEHIND = Duration.ofSeconds(3);

  /** Waits until it has ended; gives what it wrote. Fails if it ended badly. */
  public String awaitLog() {
    Pod ended =
        await("pod " + name + " to end")
            .atMost(Workspace.PATIENCE)
            .until(() -> Objects.requireNonNull(resource().get()),
                pod -> List.of("Succeeded", "Failed").contains(pod.getStatus().getPhase()));
    if (!"Succeeded".equals(ended.getStatus().getPhase())) {
      throw new AssertionError("pod " + name + " failed:\n" + log());
    }
    return endedLog();
  }

  /** On a loaded machine kubelet may tell of a container's end before all that it wrote is in its log. */
  private String endedLog() {
    try {
      return await("the log of pod " + name).atMost(LOG_BEHIND).until(this::log, text -> !text.isEmpty());
    } catch (ConditionTimeoutException e) {
      return ""; // it wrote nothing
    }
  }

  /** Waits until its containers run. */
  public PodUnderTest awaitRunning() {
    await("pod " + name + " to run").atMost(Workspace.PATIENCE).until(() -> "Running".equals(phase()));
    return this;
  }

  /** Waits until it has written a line that holds this. */
  public PodUnderTest awaitLine(String part) {
    awaitRunning();
    await("'" + part + "' in the log of pod " + name)
        .atMost(Workspace.PATIENCE)
        .ignoreException(KubernetesClientException.class) // no container to log yet
        .until(() -> log().contains(part));
    return this;
  }

  public String phase() {
    Pod pod = resource().get();
    return pod == null || pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
  }

  /** Whether the container runtime could not start a container of it, and nobody tries again. */
  public boolean startFailed() {
    Pod pod = Objects.requireNonNull(resource().get());
    return "Failed".equals(phase()) && pod.getStatus().getContainerStatuses().stream()
        .map(container -> container.getState().getTerminated())
        .anyMatch(end -> end != null && "StartError".equals(end.getReason()));
  }

  public String uid() {
    return Objects.requireNonNull(resource().get()).getMetadata().getUid();
  }

  /** The node that it is bound to; empty while it is not. */
  public String node() {
    Pod pod = resource().get();
    return pod == null || pod.getSpec().getNodeName() == null ? "" : pod.getSpec().getNodeName();
  }

  public PodUnderTest awaitBound() {
    await("pod " + name + " to be bound").atMost(Workspace.PATIENCE).until(() -> !node().isEmpty());
    return this;
  }

  /** Ends all of its processes, as what goes wrong in them would. */
  public void killProcesses() {
    Pod pod = Objects.requireNonNull(resource().get());
    workspace.cluster().files().signal(pod.getSpec().getNodeName(), pod.getMetadata().getUid(), "KILL");
  }

  /** Waits until its container runs after having been started again this many times. */
  public PodUnderTest awaitStartedAgain(int times) {
    await("the container of pod " + name + " to be started again")
        .atMost(Workspace.PATIENCE)
        .until(
            () -> resource().get().getStatus().getContainerStatuses().stream()
                .anyMatch(status -> status.getRestartCount() >= times && status.getState().getRunning() != null));
    return this;
  }

  /** Whether it exists, and nobody has asked that it go. */
  public boolean isStaying() {
    Pod pod = resource().get();
    return pod != null && pod.getMetadata().getDeletionTimestamp() == null;
  }

  /** Its scheduling gates. */
  public List<String> gates() {
    return Optional.ofNullable(resource().get())
        .map(pod -> pod.getSpec().getSchedulingGates())
        .orElse(List.of())
        .stream()
        .map(gate -> String.valueOf(gate.getName()))
        .toList();
  }

  /** Waits until it has exactly these scheduling gates. */
  public PodUnderTest awaitGates(String... gates) {
    await("pod " + name + " to have the gates " + List.of(gates)).atMost(Workspace.PATIENCE).until(this::gates,
        List.of(gates)::equals);
    return this;
  }

  /** Takes its last scheduling gates off. */
  public void open() {
    resource().patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"schedulingGates\": null}}");
  }

  public String log() {
    return resource().getLog();
  }

  /** What a container has written since it was started last. */
  public String logOf(String container) {
    return resource().inContainer(container).getLog();
  }

  /** Runs a shell script in the running container; gives what it wrote on stdout. */
  public String exec(String script) {
    return execIn("main", script);
  }

  /** The same in one of several containers, sidecars included. */
  public String execIn(String container, String script) {
    return Execution.run(resource(), container, script);
  }

  /** Waits until kubelet says this of a container, sidecars included. */
  public ContainerStatus awaitContainer(String container, Predicate<ContainerStatus> wanted) {
    return await("container " + container + " of pod " + name)
        .atMost(Workspace.PATIENCE)
        .until(
            () -> {
              PodStatus status = Objects.requireNonNull(resource().get()).getStatus();
              return Stream.of(status.getInitContainerStatuses(), status.getContainerStatuses()).flatMap(List::stream)
                  .filter(each -> each.getName().equals(container)).filter(wanted).findFirst();
            },
            Optional::isPresent)
        .orElseThrow();
  }

  /** What its owner does by {@code kubectl patch --subresource resize}. */
  public void resize(String container, Map<String, String> requests) {
    resource().subresource("resize").patch(PatchContext.of(PatchType.STRATEGIC_MERGE),
        workspace.client().getKubernetesSerialization().asJson(Map.of("spec", Map.of("containers",
            List.of(Map.of("name", container, "resources", Map.of("requests", requests)))))));
  }

  /** Waits until it has a condition for this reason. */
  public PodUnderTest awaitCondition(String type, String reason) {
    await("condition " + type + " of pod " + name + " to be " + reason).atMost(Workspace.PATIENCE)
        .until(() -> Objects.requireNonNull(resource().get()).getStatus().getConditions().stream()
            .anyMatch(condition -> type.equals(condition.getType()) && reason.equals(condition.getReason())));
    return this;
  }

  /** The device metadata of its claim's request, if the claim was made from a template: one document a version. */
  public String deviceMetadata() {
    return exec("cat /var/run/kubernetes.io/dra-device-attributes/resourceclaimtemplates/gpu/gpu/"
        + "gpu.partita.dev-metadata.json");
  }

  /** The claim that was made for it, or that it uses. */
  public ClaimUnderTest claim() {
    return new ClaimUnderTest(
        workspace,
        await("the claim of pod " + name)
            .atMost(Workspace.PATIENCE)
            .until(
                () -> Optional.ofNullable(resource().get().getStatus().getResourceClaimStatuses()).orElse(List.of())
                    .stream()
                    .map(status -> String.valueOf(status.getResourceClaimName()))
                    .findFirst(),
                Optional::isPresent)
            .orElseThrow());
  }

  /** Deletes it and waits until it is gone. */
  public void deleteAndAwait() {
    resource().withGracePeriod(1).delete();
    awaitGone();
  }

  /** Waits until it is gone. */
  public void awaitGone() {
    await("pod " + name + " to be gone").atMost(Workspace.PATIENCE).until(() -> resource().get() == null);
  }

  /** Deletes it at once, as nobody else would do for a pod on a {@link PaperNode}. */
  public void deleteOnPaper() {
    deleteByForce();
  }

  /** Takes it out of the API at once, whatever its containers do: {@code kubectl delete --grace-period=0 --force}. */
  public void deleteByForce() {
    resource().withGracePeriod(0).delete();
  }

  private PodResource resource() {
    return workspace.client().pods().inNamespace(workspace.namespace()).withName(name);
  }
}
