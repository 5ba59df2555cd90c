package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnOwnNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Pods that have sidecars (KEP-753), and pods whose CPU and memory are resized in place (KEP-1287). */
@OnRealCluster
class SidecarsAndPodResizeIT {
  @Test
  void aSidecarAndTheContainerHaveOneShareTogetherAlsoAfterTheSidecarWasKilled(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    ClaimUnderTest claim = workspace.claim("both", Ask.share("16Gi"));
    workspace.create(
        pod("pair", node, "Never", """
            resourceClaims: [{name: gpu, resourceClaimName: both}]
            initContainers:
            - name: helper
              restartPolicy: Always
              image: %1$s
              imagePullPolicy: IfNotPresent
              command: [sh, -c, "partita-probe hold 2Gi; exit 1"]
              resources: {claims: [{name: gpu}]}
            containers:
            - name: main
              image: %1$s
              imagePullPolicy: IfNotPresent
              command: [sh, -c, exec partita-probe hold 6Gi]
              resources: {claims: [{name: gpu}]}
            """.formatted(RealCluster.PROBE_IMAGE)));
    PodUnderTest pod = workspace.podNamed("pair");
    awaitHolding(pod, "helper");
    awaitHolding(pod, "main");
    haveTogether(pod);

    String before = specOnNode(cluster, node, claim);
    pod.execIn("helper", "kill -9 $(grep -l ^partita-probe /proc/[0-9]*/comm | cut -d/ -f3)");
    pod.awaitContainer("helper", status -> status.getRestartCount() == 1 && status.getState().getRunning() != null);
    awaitHolding(pod, "helper");
    haveTogether(pod);
    assertThat(pod.log()).as("of the program beside it").doesNotContain("released").containsOnlyOnce("holding");
    assertThat(specOnNode(cluster, node, claim)).as("prepared once").isEqualTo(before);

    String uid = claim.uid();
    pod.deleteAndAwait();
    await("the share to be let go of").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(cluster.files().tracesOf(uid, node)).isEmpty());
  }

  @Test
  void aSidecarWithAClaimOfItsOwnHasThatShareAndNoOther(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    workspace.create(template("large", "16Gi"));
    workspace.create(template("small", "4Gi"));
    workspace.create(
        pod("apart", node, "Never", """
            resourceClaims:
            - {name: large, resourceClaimTemplateName: large}
            - {name: small, resourceClaimTemplateName: small}
            initContainers:
            - name: helper
              restartPolicy: Always
              image: %1$s
              imagePullPolicy: IfNotPresent
              command: [sh, -c, exec partita-probe hold 1Gi]
              resources: {claims: [{name: small}]}
            containers:
            - name: main
              image: %1$s
              imagePullPolicy: IfNotPresent
              command: [sh, -c, exec partita-probe hold 6Gi]
              resources: {claims: [{name: large}]}
            """.formatted(RealCluster.PROBE_IMAGE)));
    PodUnderTest pod = workspace.podNamed("apart");
    awaitHolding(pod, "helper");
    awaitHolding(pod, "main");
    assertThat(pod.execIn("helper", "nvidia-smi; partita-probe alloc 1Gi; partita-probe alloc 3Gi"))
        .contains("/   4096MiB").containsSubsequence("CUDA_SUCCESS", "OUT_OF_MEMORY").doesNotContain("16384MiB");
    assertThat(pod.execIn("main", "nvidia-smi; partita-probe alloc 6Gi; partita-probe alloc 10Gi"))
        .contains("/  16384MiB").containsSubsequence("CUDA_SUCCESS", "OUT_OF_MEMORY").doesNotContain("4096MiB");

    List<String> uids = uidsOfClaims(workspace);
    assertThat(uids).hasSize(2);
    pod.deleteAndAwait();
    awaitAllGone(cluster, workspace, node, uids);
  }

  @Test
  void aJobCompletesAlthoughItsSidecarUsesTheShareAndTheShareIsLetGoOf(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    workspace.create(template("share", "4Gi"));
    workspace.create(
        """
            apiVersion: batch/v1
            kind: Job
            metadata: {name: trains}
            spec:
              backoffLimit: 0
              template:
                spec:
                  restartPolicy: Never
                  terminationGracePeriodSeconds: 1
                  nodeSelector: {kubernetes.io/hostname: %s}
                  resourceClaims: [{name: gpu, resourceClaimTemplateName: share}]
                  initContainers:
                  - name: helper
                    restartPolicy: Always
                    image: %2$s
                    imagePullPolicy: IfNotPresent
                    command: [sh, -c, exec partita-probe hold 512Mi]
                    resources: {claims: [{name: gpu}]}
                  containers:
                  - name: main
                    image: %2$s
                    imagePullPolicy: IfNotPresent
                    command: [sh, -c, "until [ -e /tmp/end ]; do sleep 0.1; done; exec partita-probe alloc 512Mi"]
                    resources: {claims: [{name: gpu}]}
            """
            .formatted(node, RealCluster.PROBE_IMAGE));
    PodUnderTest pod = podOfJob(workspace, "trains").awaitRunning();
    awaitHolding(pod, "helper");
    List<String> uids = uidsOfClaims(workspace);
    assertThat(uids).hasSize(1);
    pod.exec("touch /tmp/end");
    await("the job to complete").atMost(Workspace.PATIENCE)
        .until(() -> Objects.requireNonNullElse(job(workspace, "trains").getStatus().getSucceeded(), 0) == 1);
    assertThat(pod.phase()).isEqualTo("Succeeded");
    assertThat(pod.log()).contains("CUDA_SUCCESS");
    awaitAllGone(cluster, workspace, node, uids);
  }

  @Test
  @OnOwnNode // whose CPU no other test's pods request
  @NeedsSteadyController // an old leader that has not ended yet says why a pod waits, too
  void aPodThatHasLessCpuMakesRoomAndItsProgramKeepsItsShare(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    int third = allocatableMilliCpu(cluster, node) / 3;
    PodUnderTest pod = requesting(workspace, "resized", node, "NotRequired", 2 * third);
    awaitHolding(pod, "main");
    ContainerStatus started = pod.awaitContainer("main", status -> status.getState().getRunning() != null);
    String share = share(pod);
    String spec = specOnNode(cluster, node, pod.claim());
    PodUnderTest next = requesting(workspace, "next", node, "NotRequired", 2 * third);
    workspace.awaitEvent("ResourceClaim", next.claim().name(), "Unallocatable", "too little CPU");

    pod.resize("main", Map.of("cpu", third / 2 + "m", "memory", "48Mi"));
    awaitHolding(next, "main");
    ContainerStatus smaller = pod.awaitContainer("main",
        status -> new Quantity(third / 2 + "m").equals(status.getResources().getRequests().get("cpu")));
    assertThat(smaller.getContainerID()).isEqualTo(started.getContainerID());
    assertThat(smaller.getRestartCount()).isZero();
    assertThat(pod.log()).containsOnlyOnce("holding").doesNotContain("released");
    assertThat(share(pod)).isEqualTo(share);
    assertThat(specOnNode(cluster, node, pod.claim())).as("prepared once").isEqualTo(spec);
    assertThat(pod.exec("partita-probe alloc 1536Mi; partita-probe alloc 3Gi")).as("the rest of its share")
        .containsSubsequence("CUDA_SUCCESS", "OUT_OF_MEMORY");

    String larger = 2 * third + "m";
    pod.resize("main", Map.of("cpu", larger));
    pod.awaitCondition("PodResizePending", "Deferred");
    next.deleteAndAwait();
    pod.awaitContainer("main",
        status -> new Quantity(larger).equals(status.getResources().getRequests().get("cpu")));
    assertThat(pod.log()).containsOnlyOnce("holding").doesNotContain("released");
  }

  @Test
  void aContainerThatIsStartedAgainForItsNewSizeHasItsShareAgain(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    PodUnderTest pod = requesting(workspace, "restarted", node, "RestartContainer", 50);
    awaitHolding(pod, "main");
    String uid = pod.claim().uid();
    String spec = specOnNode(cluster, node, pod.claim());

    pod.resize("main", Map.of("cpu", "20m", "memory", "48Mi"));
    pod.awaitContainer("main", status -> status.getRestartCount() == 1 && status.getState().getRunning() != null
        && new Quantity("48Mi").equals(status.getResources().getRequests().get("memory")));
    awaitHolding(pod, "main");
    assertThat(pod.claim().uid()).isEqualTo(uid);
    assertThat(specOnNode(cluster, node, pod.claim())).as("prepared once").isEqualTo(spec);
    assertThat(pod.exec("partita-probe alloc 1536Mi; partita-probe alloc 3Gi")).as("less what its program holds, once")
        .containsSubsequence("CUDA_SUCCESS", "OUT_OF_MEMORY");
  }

  /** Both see 16 GiB as theirs, and have what is left of them: one holds 2 and one 6, besides their contexts. */
  private static void haveTogether(PodUnderTest pod) {
    for (String container : List.of("helper", "main")) {
      assertThat(pod.execIn(container, "nvidia-smi; partita-probe alloc 2Gi; partita-probe alloc 8Gi"))
          .contains("/  16384MiB").containsSubsequence("CUDA_SUCCESS", "OUT_OF_MEMORY");
    }
  }

  private static void awaitHolding(PodUnderTest pod, String container) {
    pod.awaitContainer(container, status -> status.getState().getRunning() != null);
    await("the program of " + pod.name() + "'s container " + container).atMost(Workspace.PATIENCE)
        .until(() -> pod.logOf(container).contains("holding"));
  }

  /** A pod in a share of 4 GiB, of which its program holds one. */
  private static PodUnderTest requesting(
      Workspace workspace,
      String name,
      String node,
      String resizePolicy,
      int milliCpu) {
    workspace.create(template(name, "4Gi"));
    workspace.create(
        pod(name, node, "Always", """
            resourceClaims: [{name: gpu, resourceClaimTemplateName: %2$s}]
            containers:
            - name: main
              image: %1$s
              imagePullPolicy: IfNotPresent
              command: [sh, -c, exec partita-probe hold 1Gi]
              resizePolicy:
              - {resourceName: cpu, restartPolicy: NotRequired}
              - {resourceName: memory, restartPolicy: %3$s}
              resources: {claims: [{name: gpu}], requests: {cpu: %4$dm, memory: 64Mi}}
            """.formatted(RealCluster.PROBE_IMAGE, name, resizePolicy, milliCpu)));
    return workspace.podNamed(name);
  }

  private static String pod(String name, String node, String restartPolicy, String fields) {
    return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          restartPolicy: %s
          terminationGracePeriodSeconds: 1
          nodeSelector: {kubernetes.io/hostname: %s}
        """.formatted(name, restartPolicy, node) + fields.indent(2);
  }

  private static String template(String name, String memory) {
    return """
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: %s}
        spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, capacity: {requests: {memory: %s}}}}]}}}
        """
        .formatted(name, memory);
  }

  private static int allocatableMilliCpu(RealCluster cluster, String node) {
    return Objects
        .requireNonNull(cluster.client().nodes().withName(node).get().getStatus().getAllocatable().get("cpu"))
        .getNumericalAmount().movePointRight(3).intValueExact();
  }

  private static String share(PodUnderTest pod) {
    return pod.exec("ls /etc/partita/shares; grep -h -e ^memory -e ^cores -e ^claim-uid /etc/partita/shares/*/quota");
  }

  /** The claim's CDI spec on the node, which is written anew whenever the claim is prepared: what file it is. */
  private static String specOnNode(RealCluster cluster, String node, ClaimUnderTest claim) {
    String file = cluster.files().shell(node, "find /var/run/cdi -name '*%s*' -exec stat -c '%%n %%i %%z' {} +"
        .formatted(claim.uid()));
    assertThat(file).contains(claim.uid());
    return file;
  }

  private static PodUnderTest podOfJob(Workspace workspace, String job) {
    return await("the pod of job " + job).atMost(Workspace.PATIENCE)
        .until(
            () -> workspace.client().pods().inNamespace(workspace.namespace())
                .withLabel("batch.kubernetes.io/job-name", job).list().getItems().stream()
                .map(pod -> workspace.podNamed(pod.getMetadata().getName())).toList(),
            pods -> pods.size() == 1)
        .getFirst();
  }

  private static Job job(Workspace workspace, String name) {
    return Objects.requireNonNull(
        workspace.client().batch().v1().jobs().inNamespace(workspace.namespace()).withName(name).get());
  }

  private static List<String> uidsOfClaims(Workspace workspace) {
    return workspace.claims().stream().map(ResourceClaim::getMetadata).map(metadata -> metadata.getUid()).toList();
  }

  private static void awaitAllGone(RealCluster cluster, Workspace workspace, String node, List<String> uids) {
    await("the claims to be gone").atMost(Workspace.PATIENCE).until(() -> workspace.claims().isEmpty());
    await("their shares to be let go of").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(uids).allSatisfy(
            uid -> assertThat(cluster.files().tracesOf(uid, node)).isEmpty()));
  }
}
