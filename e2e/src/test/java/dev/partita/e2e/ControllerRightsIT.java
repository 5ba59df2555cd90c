package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.DependsOnVersion;
import dev.partita.e2e.cluster.Fresh;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.TokenClient;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** A controller whose token is stolen: it is held to what a controller does, with objects of our driver. */
@OnRealCluster
class ControllerRightsIT {
  /** What no card has, so that the controller leaves the pod its gate. */
  private static final Ask NOWHERE = Ask.share("200Gi");

  private static KubernetesClient controller(RealCluster cluster) {
    return TokenClient.of(cluster.client(), RealCluster.NAMESPACE, Controllers.NAME);
  }

  private static PatchContext json() {
    return PatchContext.of(PatchType.JSON);
  }

  private static void assertHeld(String policy, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("ValidatingAdmissionPolicy '" + policy + "'");
  }

  private static void assertForbidden(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            KubernetesClientException.class, refused -> assertThat(refused.getCode()).isEqualTo(403));
  }

  @Test
  void ofAGatedPodItTakesItsOwnGateAndChangesNothingElse(RealCluster cluster, Workspace workspace) {
    PodTraits gated = PodTraits.on(cluster.quietNodes().getFirst()).label("app", "a").gate("example.com/other");
    PodUnderTest pod = workspace.pod("gated", gated.gate(PodTraits.ALLOCATION_GATE), NOWHERE, "true");
    try (KubernetesClient controller = controller(cluster)) {
      var its = controller.pods().inNamespace(workspace.namespace()).withName(pod.name());
      for (String change : List.of(
          "{op: add, path: /spec/affinity, value: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
              + "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}}",
          "{op: add, path: /spec/nodeSelector/a, value: b}",
          "{op: add, path: /spec/tolerations/-, value: {key: a, operator: Exists}}",
          "{op: replace, path: /spec/containers/0/image, value: other}",
          "{op: add, path: /spec/activeDeadlineSeconds, value: 5}",
          "{op: remove, path: /spec/schedulingGates/0}",
          "{op: replace, path: /metadata/labels/app, value: b}",
          "{op: add, path: /metadata/finalizers, value: [a.example/b]}",
          "{op: add, path: /metadata/ownerReferences, value: [{apiVersion: v1, kind: Node, name: a, uid: b}]}")) {
        assertHeld("partita-own-gate", () -> its.patch(json(), patch(controller, change)));
      }
      its.patch(json(), patch(controller, "{op: remove, path: /spec/schedulingGates/1}"));
    }
    assertThat(pod.gates()).containsExactly("example.com/other");
  }

  @Test
  void ofAPodsStatusItWritesItsOwnConditionAndNothingElse(RealCluster cluster, Workspace workspace) {
    PodTraits gated = PodTraits.on(cluster.quietNodes().getFirst()).label("app", "a").gate("example.com/other");
    PodUnderTest pod = workspace.podWithoutClaim("waits", gated, "true");
    try (KubernetesClient controller = controller(cluster)) {
      var its = controller.pods().inNamespace(workspace.namespace()).withName(pod.name());
      for (String change : List.of(
          "{op: add, path: /status/conditions/-, value: {type: Ready, status: 'True'}}",
          "{op: add, path: /status/podIPs, value: [{ip: 10.0.0.1}]}",
          "{op: replace, path: /status/phase, value: Running}",
          "{op: add, path: /status/reason, value: any}",
          "{op: add, path: /status/nominatedNodeName, value: any}",
          "{op: replace, path: /metadata/labels/app, value: b}")) {
        assertHeld("partita-own-condition", () -> its.subresource("status").patch(json(), patch(controller, change)));
      }
      String own = "{op: add, path: /status/conditions/-, value: {type: gpu.partita.dev/Allocated, status: 'False'}}";
      its.subresource("status").patch(json(), patch(controller, own));
    }
  }

  @Test
  @DependsOnVersion
  void itWritesSlicesOfOurDriverInThePoolOfANodeOnly(RealCluster cluster, Workspace workspace) {
    ResourceSlice ours = new Daemons(cluster.client()).awaitSlices(cluster.quietNodes().getFirst()).getFirst();
    String name = workspace.namespace();
    workspace.createInCluster(
        """
            apiVersion: resource.k8s.io/v1
            kind: ResourceSlice
            metadata: {name: %1$s}
            spec: {driver: nic.example, nodeName: %1$s, pool: {name: %1$s, generation: 1, resourceSliceCount: 1}}
            """
            .formatted(name));
    try (KubernetesClient controller = controller(cluster)) {
      ResourceSlice other =
          Objects.requireNonNull(cluster.client().resources(ResourceSlice.class).withName(name).get());
      assertHeld("partita-own-slices", () -> controller.resource(other).delete());
      ResourceSlice grown =
          new ResourceSliceBuilder(other).editSpec().addNewDevice().withName("a").endDevice().endSpec().build();
      assertHeld("partita-own-slices", () -> controller.resource(grown).update());
      ResourceSlice everywhere =
          new ResourceSliceBuilder(ours)
              .withNewMetadata()
              .withName(name + "-2")
              .endMetadata()
              .editSpec()
              .withNodeName(null)
              .withAllNodes(true)
              .endSpec()
              .build();
      assertHeld("partita-own-slices", () -> controller.resource(everywhere).create());
    }
  }

  @Test
  void itWritesTheSelectorsOfTheClassesThatItMadeAndDeletesNone(RealCluster cluster, Workspace workspace) {
    String name = workspace.namespace() + ".gpu.partita.dev";
    workspace.createInCluster(
        "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: " + name + "}, spec: {}}");
    try (KubernetesClient controller = controller(cluster)) {
      DeviceClass ours = Objects.requireNonNull(controller.resources(DeviceClass.class).withName(Ask.ANY_SHARE).get());
      DeviceClass extended =
          new DeviceClassBuilder(ours).editSpec().withExtendedResourceName("a.example/b").endSpec().build();
      assertHeld("partita-own-classes", () -> controller.resource(extended).update());
      assertForbidden(() -> controller.resource(ours).delete());
      DeviceClass somebodys = Objects.requireNonNull(controller.resources(DeviceClass.class).withName(name).get());
      DeviceClass taken =
          new DeviceClassBuilder(somebodys)
              .editMetadata()
              .addToLabels("app.kubernetes.io/managed-by", "partita-dra-controller")
              .endMetadata()
              .build();
      assertHeld("partita-own-classes", () -> controller.resource(taken).update());
      DeviceClass foreign =
          new DeviceClassBuilder(ours)
              .withNewMetadata()
              .withName(workspace.namespace() + ".example")
              .addToLabels("app.kubernetes.io/managed-by", "partita-dra-controller")
              .endMetadata()
              .build();
      assertHeld("partita-own-classes", () -> controller.resource(foreign).create());
      controller.resource(ours).update();
    }
  }

  @Test
  void itAllocatesNoDeviceOfAnotherDriverAndTakesNoClaimFromItsPod(RealCluster cluster, Workspace workspace) {
    String nics = workspace.deviceClassOfNics();
    String spec = "{devices: {requests: [{name: nic, exactly: {deviceClassName: %s}}]}}".formatted(nics);
    ClaimUnderTest other = workspace.claimOfSpec("nic", spec);
    PodUnderTest pod = workspace.pod("runs", cluster.quietNodes().getFirst(), Ask.share("1Gi"), "exec sleep 600");
    ClaimUnderTest claim = pod.awaitRunning().claim();
    try (KubernetesClient controller = controller(cluster)) {
      ResourceClaim allocated =
          new ResourceClaimBuilder(other.get())
              .editOrNewStatus()
              .withNewAllocation()
              .withNewDevices()
              .addNewResult()
              .withRequest("nic")
              .withDriver("nic.example")
              .withPool("any")
              .withDevice("any")
              .endResult()
              .endDevices()
              .endAllocation()
              .endStatus()
              .build();
      assertHeld("partita-own-allocations", () -> controller.resource(allocated).updateStatus());
      claim.awaitDeviceStatus();
      assertHeld("partita-own-allocations", () -> Fresh.write(() -> controller.resource(
          new ResourceClaimBuilder(claim.get()).editStatus().withReservedFor().withAllocation(null).endStatus().build())
          .updateStatus()));
      var its = controller.resources(ResourceClaim.class).inNamespace(workspace.namespace()).withName(claim.name());
      for (String change : List.of(
          "{op: remove, path: /metadata/finalizers}",
          "{op: add, path: /metadata/labels, value: {a: b}}",
          "{op: add, path: /metadata/annotations/a, value: b}",
          "{op: remove, path: /metadata/ownerReferences}")) {
        assertHeld("partita-own-proposals", () -> its.patch(json(), patch(controller, change)));
      }
      assertForbidden(() -> its.delete());
    }
    assertThat(claim.devices()).isNotEmpty();
  }

  @Test
  void itWritesNoEventsOfOthersAndNoneOnOtherObjects(RealCluster cluster, Workspace workspace) {
    Event others =
        (Event) workspace
            .create(
                """
                    apiVersion: events.k8s.io/v1
                    kind: Event
                    metadata: {name: others}
                    eventTime: "2026-01-01T00:00:00.000000Z"
                    type: Normal
                    reason: Any
                    action: Any
                    reportingController: example.com/other
                    reportingInstance: any
                    regarding: {apiVersion: v1, kind: Pod, name: any, namespace: %s}
                    """
                    .formatted(workspace.namespace()))
            .getFirst();
    try (KubernetesClient controller = controller(cluster)) {
      assertHeld("partita-own-events", () -> controller.resource(others).delete());
      Event disguised =
          new EventBuilder(others)
              .editMetadata()
              .withName("disguised")
              .withResourceVersion(null)
              .endMetadata()
              .withReportingController("kubelet")
              .build();
      assertHeld("partita-own-events", () -> controller.resource(disguised).create());
      Event onANode =
          new EventBuilder(disguised)
              .withReportingController("gpu.partita.dev/dra-controller")
              .editRegarding()
              .withKind("Node")
              .endRegarding()
              .build();
      assertHeld("partita-own-events", () -> controller.resource(onANode).create());
    }
  }

  @Test
  void ofAGpuNodesStatusItWritesItsOwnConditionOnly(RealCluster cluster) {
    try (KubernetesClient controller = controller(cluster)) {
      GenericKubernetesResource node = new GenericKubernetesResourceBuilder() // by its name it would be read first
          .withApiVersion("gpu.partita.dev/v1alpha1").withKind("GpuNode").withNewMetadata()
          .withName(cluster.quietNodes().getFirst()).endMetadata().build();
      assertHeld("partita-own-node-condition", () -> controller.resource(node).subresource("status")
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\": {\"gpuCount\": 99}}"));
    }
  }

  @Test
  void itReadsNeitherSecretsNorOthersConfigMapsAndTouchesNoPods(RealCluster cluster, Workspace workspace) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName("any")
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName("any")
            .withImage("any")
            .endContainer()
            .endSpec()
            .build();
    try (KubernetesClient controller = controller(cluster)) {
      assertForbidden(() -> controller.resources(Secret.class).inNamespace("kube-system").list());
      assertForbidden(() -> controller.resources(Secret.class).inNamespace(RealCluster.NAMESPACE).list());
      assertForbidden(() -> controller.resources(ConfigMap.class).inNamespace(RealCluster.NAMESPACE).list());
      assertForbidden(
          () -> controller.configMaps().inNamespace(RealCluster.NAMESPACE).withName("kube-root-ca.crt").get());
      assertForbidden(() -> controller.resource(pod).inNamespace(workspace.namespace()).create());
      assertForbidden(() -> controller.pods().inNamespace(RealCluster.NAMESPACE).withName("any").delete());
    }
  }

  /** Whatever other tests had it do until now. */
  @Test
  @DependsOnVersion
  void nothingThatOursTryIsRefusedForWantOfARight(RealCluster cluster) {
    assertThat(new Daemons(cluster.client()).logs())
        .isNotEmpty()
        .allSatisfy(
            (pod, log) -> assertThat(log)
                .doesNotContain(" cannot get resource", " cannot list resource", " cannot watch resource")
                .doesNotContain(" cannot create resource", " cannot update resource", " cannot patch resource")
                .doesNotContain(" cannot delete resource", "ValidatingAdmissionPolicy 'partita-own-"));
  }

  /** YAML in flow style to a JSON patch of one step. */
  private static String patch(KubernetesClient client, String step) {
    Object parsed = client.getKubernetesSerialization().unmarshal("- " + step, List.class);
    return client.getKubernetesSerialization().asJson(parsed);
  }
}
