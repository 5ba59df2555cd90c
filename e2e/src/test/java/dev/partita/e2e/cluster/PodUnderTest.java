package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A pod in a test's namespace, with one container {@code main}.
 *
 * @param workspace where it is
 * @param name of the pod
 */
public record PodUnderTest(Workspace workspace, String name) {
  /** Waits until it has ended; gives what it wrote. Fails if it ended badly. */
  public String awaitLog() {
    Pod ended =
        await("pod " + name + " to end")
            .atMost(Workspace.PATIENCE)
            .until(() -> Objects.requireNonNull(resource().get()), pod -> List.of("Succeeded", "Failed").contains(pod.getStatus().getPhase()));
    if (!"Succeeded".equals(ended.getStatus().getPhase())) {
      throw new AssertionError("pod " + name + " failed:\n" + log());
    }
    return log();
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

  public String log() {
    return resource().getLog();
  }

  /** Runs a shell script in the running container; gives what it wrote on stdout. */
  public String exec(String script) {
    return Execution.run(resource(), "main", script);
  }

  /** The claim that was made for it, or that it uses. */
  public ClaimUnderTest claim() {
    return new ClaimUnderTest(
        workspace,
        await("the claim of pod " + name)
            .atMost(Workspace.PATIENCE)
            .until(
                () ->
                    Optional.ofNullable(resource().get().getStatus().getResourceClaimStatuses()).orElse(List.of()).stream()
                        .map(status -> String.valueOf(status.getResourceClaimName()))
                        .findFirst(),
                Optional::isPresent)
            .orElseThrow());
  }

  /** Deletes it and waits until it is gone. */
  public void deleteAndAwait() {
    resource().withGracePeriod(1).delete();
    await("pod " + name + " to be gone").atMost(Workspace.PATIENCE).until(() -> resource().get() == null);
  }

  private PodResource resource() {
    return workspace.client().pods().inNamespace(workspace.namespace()).withName(name);
  }
}
