package dev.partita.controller.uninstall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.Driver;
import dev.partita.controller.Cluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RemovalTest {
  private static final String CONTROLLERS = "partita-dra-controller";
  private static final Map<String, String> LABELS = Map.of("app.kubernetes.io/name", "dra-controller");

  private final Cluster cluster = Cluster.empty();
  private final List<String> said = new ArrayList<>();
  private final Removal removal =
      new Removal(cluster.client, "partita-system", CONTROLLERS, Duration.ofSeconds(30), said::add);

  @BeforeEach
  void installed() {
    make(slice("ours", Driver.NAME), slice("theirs", "gpu.nvidia.com"), deviceClass("gpu.partita.dev", CONTROLLERS),
        deviceClass("team.gpu.partita.dev", "somebody"), template("converted", CONTROLLERS),
        template("written", "somebody"), new LeaseBuilder().withNewMetadata().withName(CONTROLLERS)
            .withNamespace("partita-system").endMetadata().build());
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void whatControllersMadeGoesAndWhatOthersMadeStays() throws Removal.RefusedException {
    removal.run();
    assertThat(names(ResourceSlice.class)).containsExactly("theirs");
    assertThat(names(DeviceClass.class)).containsExactly("team.gpu.partita.dev");
    assertThat(names(ResourceClaimTemplate.class)).containsExactly("written");
    assertThat(names(Lease.class)).isEmpty();
    assertThat(said).containsExactly("removed 1 ResourceClaimTemplate of converted pods", "removed 1 ResourceSlice",
        "removed 1 DeviceClass");
  }

  @Test
  void aPodThatWaitedForTheControllerIsLeftToTheScheduler() throws Removal.RefusedException {
    make(waitingPod());
    removal.run();
    assertThat(cluster.client.pods().inNamespace("team").withName("waits").get().getSpec().getSchedulingGates())
        .containsExactly(new PodSchedulingGate("another/gate"));
    assertThat(said).first().asString().startsWith("removed 1 scheduling gate of pods that waited");
  }

  @Test
  void aGateThatMovesWhileItIsRemovedIsLookedForAgain() throws Removal.RefusedException {
    make(waitingPod());
    AtomicInteger patches = new AtomicInteger();
    Interceptor another = new Interceptor() {
      @Override
      public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        if (request.method().equals("PATCH") && patches.getAndIncrement() == 0) {
          cluster.client.pods().inNamespace("team").withName("waits")
              .edit(pod -> new PodBuilder(pod).editSpec()
                  .withSchedulingGates(new PodSchedulingGate(Driver.ALLOCATION_GATE)).endSpec().build());
        }
      }
    };
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(cluster.client.getConfiguration())
        .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", another)).build()) {
      new Removal(client, "partita-system", CONTROLLERS, Duration.ofSeconds(30), said::add).run();
    }
    assertThat(patches).hasValueGreaterThan(1);
    assertThat(cluster.client.pods().inNamespace("team").withName("waits").get().getSpec().getSchedulingGates())
        .isEmpty();
    assertThat(names(DeviceClass.class)).containsExactly("team.gpu.partita.dev");
  }

  @Test
  void nothingIsRemovedWhileAPodUsesAClaim() {
    make(ClaimsInUseTest.claim("one", Driver.NAME, "trains"));
    assertThatThrownBy(removal::run).isInstanceOf(Removal.RefusedException.class)
        .hasMessageContaining("team/one (pod trains)");
    assertThat(names(ResourceSlice.class)).contains("ours");
    assertThat(names(DeviceClass.class)).contains("gpu.partita.dev");
    assertThat(said).isEmpty();
  }

  @Test
  void controllersAreStartedAgainWhereItCannotBeSeenWhetherTheyHaveEnded() {
    make(controllers());
    List<String> scaled = Collections.synchronizedList(new ArrayList<>());
    Interceptor fails = new Interceptor() {
      @Override
      public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        String path = request.uri().getPath();
        if (path.endsWith("/scale")) {
          scaled.add(request.bodyString());
        } else if (path.endsWith("/namespaces/partita-system/pods")) {
          throw new IllegalStateException("the API server is away");
        }
      }
    };
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(cluster.client.getConfiguration())
        .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", fails)).build()) {
      Removal failing = new Removal(client, "partita-system", CONTROLLERS, Duration.ofSeconds(30), said::add);
      assertThatThrownBy(failing::run).isInstanceOf(RuntimeException.class);
    }
    assertThat(scaled).containsExactly("{\"spec\":{\"replicas\":0}}", "{\"spec\":{\"replicas\":1}}");
    assertThat(names(ResourceSlice.class)).contains("ours");
  }

  private static Deployment controllers() {
    return new DeploymentBuilder().withNewMetadata().withName(CONTROLLERS).withNamespace("partita-system")
        .endMetadata().withNewSpec().withReplicas(1).withNewSelector().withMatchLabels(LABELS).endSelector().endSpec()
        .build();
  }

  /** kubelet fails the pods of a node that shuts down. No ReplicaSet deletes those: they do not count for it. */
  @Test
  void aControllersPodThatHasEndedIsNotWaitedFor() throws Removal.RefusedException {
    make(controllers());
    Pod ended = new PodBuilder().withNewMetadata().withName("of-a-node-that-shut-down").withNamespace("partita-system")
        .withLabels(LABELS).endMetadata().withNewSpec().addNewContainer().withName("main").withImage("image")
        .endContainer().endSpec().build();
    make(ended);
    cluster.client.resource(new PodBuilder(ended).withNewStatus().withPhase("Failed").withReason("Terminated")
        .endStatus().build()).updateStatus();
    new Removal(cluster.client, "partita-system", CONTROLLERS, Duration.ofSeconds(2), said::add).run();
    assertThat(said).first().isEqualTo("ended the controllers");
    assertThat(names(Lease.class)).isEmpty();
  }

  /** Of all slices of a large cluster one answer alone would take more memory than the Job has. */
  @Test
  void whatALargeClusterHasManyOfIsAskedForInParts() throws Removal.RefusedException {
    List<String> whole = new ArrayList<>();
    Interceptor listens = new Interceptor() {
      @Override
      public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        String asked = request.uri().toString();
        if (request.method().equals("GET") && asked.matches(".*/(pods|resource[a-z]+|deviceclasses)([?].*)?")
            && !asked.contains("limit=")) {
          whole.add(asked);
        }
      }
    };
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(cluster.client.getConfiguration())
        .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", listens)).build()) {
      new Removal(client, "partita-system", CONTROLLERS, Duration.ofSeconds(30), said::add).run();
    }
    assertThat(whole).isEmpty();
    assertThat(names(ResourceSlice.class)).containsExactly("theirs");
  }

  private static Pod waitingPod() {
    return new PodBuilder().withNewMetadata().withName("waits").withNamespace("team").endMetadata().withNewSpec()
        .withSchedulingGates(new PodSchedulingGate("another/gate"), new PodSchedulingGate(Driver.ALLOCATION_GATE))
        .addNewContainer().withName("main").withImage("image").endContainer().endSpec().build();
  }

  private void make(HasMetadata... objects) {
    for (HasMetadata object : objects) {
      cluster.client.resource(object).create();
    }
  }

  private List<String> names(Class<? extends HasMetadata> type) {
    return cluster.client.resources(type).inAnyNamespace().list().getItems().stream()
        .map(object -> object.getMetadata().getName()).sorted().toList();
  }

  private static ResourceSlice slice(String name, String driver) {
    return new ResourceSliceBuilder().withNewMetadata().withName(name).endMetadata().withNewSpec().withDriver(driver)
        .endSpec().build();
  }

  private static DeviceClass deviceClass(String name, String managedBy) {
    return new DeviceClassBuilder().withNewMetadata().withName(name).addToLabels(Driver.MANAGED_BY_LABEL, managedBy)
        .endMetadata().withNewSpec().endSpec().build();
  }

  private static ResourceClaimTemplate template(String name, String managedBy) {
    return new ResourceClaimTemplateBuilder().withNewMetadata().withName(name).withNamespace("team")
        .addToLabels(Driver.MANAGED_BY_LABEL, managedBy).endMetadata().withNewSpec().endSpec().build();
  }
}
