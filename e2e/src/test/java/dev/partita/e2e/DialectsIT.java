package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.TokenClient;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pods that asked in other systems' ways: what admission leaves of them refers to templates, which the controller
 * makes.
 */
@OnRealCluster
class DialectsIT {
  private static final long MIB = 1L << 20;

  /** The name that follows from 8 GiB, in every version, and what admission notes about it. */
  private static final String TEMPLATE = "partita-12479bc88582c53a0399";

  private static final String NOTE = "{\"version\":1,\"requests\":[{\"count\":1,\"memory\":8589934592}]}";

  /** What a container asks for, and what CUDA is to show of the card. */
  private record Asking(String limits, String total) {
    Asking(String limits, long mebibytes) {
      this(limits, Long.toString(mebibytes * MIB));
    }
  }

  @Test
  @NeedsSteadyController
  void aPodOfEveryDialectRunsWithTheShareThatItAskedFor(RealCluster cluster, Workspace workspace) {
    workspace.awaitAdmission();
    Map<String, Asking> dialects = new LinkedHashMap<>();
    long tenth = (RealCluster.CARD_MEMORY - RealCluster.CARD_RESERVED) / 10 / MIB;
    dialects.put("nvidia", new Asking("{nvidia.com/gpu: 1}", "1[45]\\d{10}"));
    dialects.put("device-class",
        new Asking("{deviceclass.resource.kubernetes.io/gpu.partita.dev: 1}", "1[45]\\d{10}"));
    dialects.put("hami", new Asking("{nvidia.com/gpu: 1, nvidia.com/gpumem: 1025, nvidia.com/gpucores: 5}", 1025));
    dialects.put("hami-percent", new Asking("{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 10}", tenth));
    dialects.put("gpumanager", new Asking("{tencent.com/vcuda-core: 5, tencent.com/vcuda-memory: 5}", 5 * 256));
    dialects.put("gpushare", new Asking("{aliyun.com/gpu-mem: 2}", 2048));
    dialects.put("elasticgpu", new Asking("{elasticgpu.io/gpu-core: 5, elasticgpu.io/gpu-memory: 1026}", 1026));
    dialects.put("qgpu",
        new Asking("{tke.cloud.tencent.com/qgpu-core: 5, tke.cloud.tencent.com/qgpu-memory: 3}", 3072));
    dialects.put("volcano",
        new Asking("{volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 1027, volcano.sh/vgpu-cores: 5}", 1027));
    dialects.put("vgpumanager",
        new Asking("{nvidia.com/vgpu-number: 1, nvidia.com/vgpu-memory: 1029, nvidia.com/vgpu-cores: 5}", 1029));
    dialects.put("koordinator",
        new Asking("{koordinator.sh/gpu.shared: 1, koordinator.sh/gpu-memory: 1030Mi, koordinator.sh/gpu-core: 5}",
            1030));
    List<PodUnderTest> pods = new ArrayList<>();
    dialects.forEach((name, asking) -> pods
        .add(workspace.podAsking(name, cluster.quietNodes().getFirst(), asking.limits(), "partita-probe info")));

    for (PodUnderTest pod : pods) {
      assertThat(pod.awaitLog()).as(pod.name())
          .containsPattern("total=" + Objects.requireNonNull(dialects.get(pod.name())).total() + " ")
          .doesNotContain("device 1");
    }
    assertThat(templates(workspace)).hasSize(dialects.size());
  }

  @Test
  @NeedsSteadyController
  void aFractionByAnnotationsRunsWithTheMemoryThatItAskedFor(RealCluster cluster, Workspace workspace) {
    workspace.awaitAdmission();
    PodTraits traits = PodTraits.on(cluster.quietNodes().getFirst())
        .annotation("nvidia.com/container.main.gpu-memory.request", "1031Mi");

    PodUnderTest pod = workspace.podAskingByAnnotations("fraction", traits, "partita-probe info");

    assertThat(pod.awaitLog()).contains("total=" + 1031 * MIB + " ");
  }

  /** No quiet node offers instances: what the controller may make is seen all the same. */
  @Test
  @NeedsSteadyController
  void aMigInstanceByItsResourceGetsATemplateOfItsProfile(RealCluster cluster, Workspace workspace) {
    workspace.awaitAdmission();
    workspace.podAsking("instance", cluster.quietNodes().getFirst(), "{nvidia.com/mig-1g.18gb: 1}", "true");

    await("the template").atMost(Workspace.PATIENCE).until(() -> !templates(workspace).isEmpty());
    assertThat(workspace.client().resources(ResourceClaimTemplate.class).inNamespace(workspace.namespace()).list()
        .getItems()).singleElement().satisfies(
            template -> assertThat(
                template.getSpec().getSpec().getDevices().getRequests().getFirst().getExactly().getDeviceClassName())
                .isEqualTo("mig.gpu.partita.dev"));
  }

  @Test
  void whatTheConvertCommandWritesRuns(RealCluster cluster, Workspace workspace, @TempDir Path folder)
      throws IOException {
    Path file = Files.writeString(folder.resolve("hami.yaml"),
        """
            apiVersion: v1
            kind: Pod
            metadata: {name: converted, namespace: %s}
            spec:
              restartPolicy: Never
              nodeSelector: {kubernetes.io/hostname: %s}
              containers:
              - name: main
                image: %s
                imagePullPolicy: IfNotPresent
                command: [partita-probe, info]
                resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 1028, nvidia.com/gpucores: 5}}
            """
            .formatted(workspace.namespace(), cluster.quietNodes().getFirst(), RealCluster.PROBE_IMAGE));
    Outcome converted = cluster.kubectlPartita("convert", "-f", file.toString());
    assertThat(converted.status()).as(converted.err()).isZero();
    assertThat(converted.out()).doesNotContain("gpumem");
    workspace.create(converted.out());
    assertThat(workspace.podNamed("converted").awaitLog()).contains("total=" + 1028 * MIB + " ");
  }

  @Test
  void whatAdmissionLeavesOfPodsGetsOneTemplateAndRuns(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    PodUnderTest first = workspace.convertedPod("first", node, TEMPLATE, NOTE, "partita-probe info");
    PodUnderTest second = workspace.convertedPod("second", node, TEMPLATE, NOTE, "partita-probe info");

    assertThat(first.awaitLog()).contains("total=8589934592 ");
    assertThat(second.awaitLog()).contains("total=8589934592 ");
    assertThat(templates(workspace)).containsExactly(TEMPLATE);
    workspace.client().resources(ResourceClaimTemplate.class).inNamespace(workspace.namespace()).withName(TEMPLATE)
        .delete();
    PodUnderTest third = workspace.convertedPod("third", node, TEMPLATE, NOTE, "partita-probe info");
    assertThat(third.awaitLog()).as("its template was deleted").contains("total=8589934592 ");
  }

  @Test
  @NeedsSteadyController
  void aNoteThatNobodyButItsPodWroteMakesNoTemplate(RealCluster cluster, Workspace workspace) {
    String forged = NOTE.replace("}]", ",\"deviceClassName\":\"other\"}]");
    PodUnderTest pod = workspace.convertedPod("forged", cluster.quietNodes().getFirst(), TEMPLATE, forged, "true");

    assertThat(workspace.awaitEvent("Pod", pod.name(), "TemplateNotMade").message())
        .contains("converted-requests is not written as it is when a pod is converted");
    assertThat(templates(workspace)).isEmpty();
  }

  @Test
  @NeedsSteadyController // the token is for a pod of theirs
  void theControllersTokenReachesNoTemplatesButItsOwn(RealCluster cluster, Workspace workspace) {
    workspace.convertedPod("pod", cluster.quietNodes().getFirst(), TEMPLATE, NOTE, "exec sleep 600");
    await("the template").atMost(Workspace.PATIENCE).until(() -> templates(workspace).contains(TEMPLATE));
    KubernetesClient admin = workspace.client();
    ResourceClaimTemplate made =
        admin.resources(ResourceClaimTemplate.class).inNamespace(workspace.namespace()).withName(TEMPLATE).require();
    ResourceClaimTemplate users =
        admin.resource(new ResourceClaimTemplateBuilder(made).withNewMetadata().withName("users")
            .withNamespace(workspace.namespace()).endMetadata().build()).create();
    ResourceClaimTemplate ofAnotherClass =
        new ResourceClaimTemplateBuilder(made)
            .editMetadata()
            .withName("partita-00000000000000000000")
            .endMetadata()
            .editSpec()
            .editSpec()
            .editDevices()
            .editFirstRequest()
            .editExactly()
            .withDeviceClassName("another")
            .endExactly()
            .endRequest()
            .endDevices()
            .endSpec()
            .endSpec()
            .build();
    ofAnotherClass.getMetadata().setResourceVersion(null);
    ofAnotherClass.getMetadata().setUid(null);
    try (KubernetesClient controller = TokenClient.ofPod(admin, new Daemons(admin).awaitController())) {
      assertRefused(() -> controller.resource(users).delete());
      assertRefused(() -> controller.resource(ofAnotherClass).create());
      assertRefused(
          () -> controller
              .resource(new ResourceClaimTemplateBuilder(users).withNewMetadata().withName("more")
                  .withNamespace(workspace.namespace()).endMetadata().build())
              .create());
    }
    assertThat(templates(workspace)).containsExactlyInAnyOrder(TEMPLATE, "users");
  }

  private static void assertRefused(Runnable call) {
    assertThatThrownBy(call::run)
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(
            "the controller may make and delete the templates that it makes for converted pods, and no others");
  }

  private static List<String> templates(Workspace workspace) {
    return workspace.client().resources(ResourceClaimTemplate.class).inNamespace(workspace.namespace()).list()
        .getItems().stream()
        .map(template -> template.getMetadata().getName())
        .toList();
  }
}
