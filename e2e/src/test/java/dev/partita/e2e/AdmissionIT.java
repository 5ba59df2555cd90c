package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Binding;
import io.fabric8.kubernetes.api.model.BindingBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What the API server asks Partita before it makes an object. */
@OnRealCluster
@NeedsSteadyController
class AdmissionIT {
  static final Ask WRONG_CONFIG = Ask.share("1Gi").config("coreLimit: Sometimes, placement: {gpus: Anywhere}");

  private static Pod pod(Workspace workspace, String limits) {
    return (Pod) workspace.dryRun(
        "{apiVersion: v1, kind: Pod, metadata: {name: asking}, spec: {containers: [{name: main, image: none, resources: {limits: "
            + limits + "}}]}}");
  }

  private static void assertRefuses(Workspace workspace, String yaml, String... words) {
    assertRefused(() -> workspace.dryRun(yaml), words);
  }

  static void assertRefuses(Workspace workspace, Ask ask, String... words) {
    assertRefused(() -> workspace.dryRun("asked", ask), words);
  }

  private static void assertRefused(ThrowingCallable creation, String... words) {
    assertThatThrownBy(creation).isInstanceOf(KubernetesClientException.class).hasMessageContainingAll(words);
  }

  @Test
  void aWrongConfigIsRefusedWithAllThatIsWrong(Workspace workspace) {
    workspace.awaitAdmission();
    assertRefuses(
        workspace, WRONG_CONFIG, "spec.devices.config[0].opaque.parameters.coreLimit",
        "spec.devices.config[0].opaque.parameters.placement.gpus", "Sometimes", "Anywhere");
  }

  @Test
  void aWrongGpuNodeAndAWrongGpuQuotaAreRefused(Workspace workspace) {
    workspace.awaitAdmission();
    assertRefuses(
        workspace,
        "{apiVersion: gpu.partita.dev/v1alpha1, kind: GpuQuota, metadata: {name: wrong}, spec: {limits: [{name: all, guaranteed: {memory: -1Gi}}]}}",
        "spec.limits[0].guaranteed.memory", "must not be negative");
    assertRefuses(
        workspace,
        "{apiVersion: gpu.partita.dev/v1alpha1, kind: GpuNode, metadata: {name: wrong}, spec: {reservedMemory: -1Gi}}",
        "spec.reservedMemory", "must not be negative");
  }

  /** By the API server itself, for the webhook may be away: who cannot read one of a list reads none of them. */
  @Test
  void whatIsNoQuantityIsRefusedByTheSchemaOfGpuNodesAndGpuQuotas(Workspace workspace) {
    assertRefuses(
        workspace,
        "{apiVersion: gpu.partita.dev/v1alpha1, kind: GpuQuota, metadata: {name: wrong}, spec: {limits: [{name: all, guaranteed: {memory: 10Gi5Mi}}]}}",
        "spec.limits[0].guaranteed.memory", "should match");
    assertRefuses(
        workspace,
        "{apiVersion: gpu.partita.dev/v1alpha1, kind: GpuNode, metadata: {name: wrong}, spec: {reservedMemory: ''}}",
        "spec.reservedMemory", "should match");
  }

  /** Nobody of ours is asked again there: the claim would be allocated. */
  @Test
  void whereKubeSchedulerAllocatesAClaimBeyondItsQuotaIsRefusedWhenItIsMade(RealCluster cluster, Workspace workspace) {
    workspace.awaitAdmission();
    String name = workspace.namespace();
    try (PaperNode node = PaperNode.create(cluster.client(), name, 1)) {
      cluster.patchGpuNode(node.name(), "{\"allocator\": \"Scheduler\"}");
      workspace.createInCluster(
          "{apiVersion: gpu.partita.dev/v1alpha1, kind: GpuQuota, metadata: {name: %1$s}, spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}, limits: [{guaranteed: {memory: 8Gi}}]}}"
              .formatted(name));
      await("a refusal").atMost(Workspace.PATIENCE).untilAsserted(
          () -> assertRefuses(workspace, Ask.share("9Gi"), "quota " + name, "of 8 GiB memory, 9 GiB asked"));
      workspace.claim("six", Ask.share("6Gi"));
      await("another refusal").atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertRefuses(workspace, Ask.share("4Gi"), "6 GiB of 8 GiB memory", "4 GiB asked"));
      assertThat(workspace.dryRun("two", Ask.share("2Gi")).getKind()).isEqualTo("ResourceClaim");
    }
  }

  /** The chart binds the policy to all namespaces unless plugin.mps is true, as it is here. */
  @Test
  void whereMpsIsOffAClaimThatAsksForItIsRefused(Workspace workspace) {
    workspace.awaitAdmission();
    Ask mps = Ask.share("4Gi").config("sharing: {strategy: MPS}");
    assertThat(workspace.dryRun("allowed", mps).getKind()).isEqualTo("ResourceClaim");
    workspace.createInCluster(
        """
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingAdmissionPolicyBinding
            metadata: {name: %1$s}
            spec:
              policyName: partita-no-mps
              validationActions: [Deny]
              matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}}
            """
            .formatted(workspace.namespace()));
    await("a refusal").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertRefuses(workspace, mps, "sharing.strategy MPS is off in this cluster"));
    assertThat(workspace.dryRun("without", Ask.share("4Gi")).getKind()).isEqualTo("ResourceClaim");
  }

  /** Also where only the controller knows that the class is for our devices. */
  @Test
  void aClaimThatWouldLetKubeSchedulerTakeTheControllersCardsIsRefused(Workspace workspace) {
    workspace.awaitAdmission();
    String own = workspace.namespace();
    workspace.createInCluster(
        "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: %s}, spec: {selectors: [{cel: {expression: \"device.driver == 'gpu.partita.dev'\"}}]}}"
            .formatted(own));
    for (String deviceClass : new String[]{Ask.ANY_SHARE, own}) {
      for (String toleration : new String[]{"operator: Exists", "key: gpu.partita.dev/allocator, operator: Exists"}) {
        await("a refusal")
            .atMost(Workspace.PATIENCE)
            .untilAsserted(
                () -> assertThatThrownBy(() -> workspace.dryRun(tolerant(deviceClass, toleration)))
                    .isInstanceOf(KubernetesClientException.class)
                    .hasMessageContaining("spec.devices.requests[0].exactly.tolerations[0]"));
      }
      assertThat(workspace.dryRun(tolerant(deviceClass, "key: gpu.partita.dev/unhealthy, operator: Exists")).getKind())
          .isEqualTo("ResourceClaim");
    }
  }

  private static String tolerant(String deviceClass, String toleration) {
    return "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: tolerant}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: %s, tolerations: [{%s}]}}]}}}"
        .formatted(deviceClass, toleration);
  }

  @Test
  void aDryRunShowsThePodThatWouldBeMadeAndMakesNothing(Workspace workspace) {
    workspace.awaitAdmission();
    Pod converted = pod(workspace, "{nvidia.com/gpu: 1, nvidia.com/gpumem: 1024}");

    assertThat(converted.getSpec().getContainers().getFirst().getResources().getLimits()).isNullOrEmpty();
    assertThat(converted.getSpec().getResourceClaims()).singleElement()
        .satisfies(claim -> assertThat(claim.getResourceClaimTemplateName()).startsWith("partita-"));
    assertThat(converted.getSpec().getSchedulingGates()).extracting(PodSchedulingGate::getName)
        .containsExactly(PodTraits.ALLOCATION_GATE);
    assertThat(
        workspace.client().resources(ResourceClaimTemplate.class).inNamespace(workspace.namespace()).list().getItems())
        .isEmpty();
  }

  @Test
  void aPodThatIsNotUnderstoodOrAsksForNoGpuStaysAsItIs(Workspace workspace) {
    workspace.awaitAdmission();
    for (String limits : new String[]{"nvidia.com/mig-small", "example.com/gpu"}) {
      Pod left = pod(workspace, "{" + limits + ": 1}");
      assertThat(left.getSpec().getContainers().getFirst().getResources().getLimits())
          .isEqualTo(Map.of(limits, new Quantity("1")));
      assertThat(left.getSpec().getResourceClaims()).isEmpty();
      assertThat(left.getSpec().getSchedulingGates()).isEmpty();
    }
  }

  /** The pod comes right after its claim, which the controller may not know of yet. */
  @Test
  void aPodWithAClaimOfOursWaitsForItWithoutKubeSchedulerLookingAtIt(RealCluster cluster, Workspace workspace) {
    workspace.awaitAdmission();
    ClaimUnderTest claim = workspace.claim("huge", Ask.share("200Gi"));
    PodUnderTest pod = workspace.podOf(claim, "waits", cluster.quietNodes().getFirst(), "true");
    workspace.awaitEvent("ResourceClaim", claim.name(), "Unallocatable");
    assertThat(pod.gates()).containsExactly(PodTraits.ALLOCATION_GATE);
    assertThat(workspace.events()).extracting(Workspace.EventLine::reason).doesNotContain("FailedScheduling");
  }

  /**
   * As where no controller answers when the pod is made: kube-scheduler looks in vain, and again once the claim is
   * allocated.
   */
  @Test
  void aNamespaceMayBeLeftAloneAndItsPodsAreServedAllTheSame(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.withoutAdmission().pod("ungated", cluster.quietNodes().getFirst(), Ask.share("1Gi"),
        "partita-probe alloc 256Mi");
    assertThat(pod.gates()).isEmpty();
    assertThat(pod.awaitLog()).contains("CUDA_SUCCESS");
  }

  /** As a scheduler does that goes by the node that it would have chosen itself. */
  @Test
  void nobodyBindsAPodToAnotherNodeThanThatOfItsDevices(RealCluster cluster, Workspace workspace) {
    workspace.awaitAdmission();
    PodUnderTest pod =
        workspace.pod("bound", cluster.quietNodes().getFirst(), Ask.share("1Gi"), "exec sleep 600").awaitRunning();
    assertRefused(() -> bind(workspace, pod, "elsewhere"), "a claim of the pod has devices of another node",
        "cannot run on node elsewhere");
    assertRefused(() -> bind(workspace, pod, pod.node()), "already assigned to node");
  }

  private static void bind(Workspace workspace, PodUnderTest pod, String node) {
    Binding binding = new BindingBuilder().withNewMetadata().withName(pod.name()).endMetadata()
        .withNewTarget().withKind("Node").withName(node).endTarget().build();
    workspace.client().raw("/api/v1/namespaces/%s/pods/%s/binding".formatted(workspace.namespace(), pod.name()), "POST",
        binding);
  }
}
