package dev.partita.cli.demo.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeSelectorBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** kube-controller-manager's and kube-scheduler's part in a claim's life. */
class ClaimsOfPodsTest {
  private ApiServer api;
  private KubernetesClient client;
  private ClaimLifecycle claims;
  private DemoScheduler scheduler;

  @BeforeEach
  void start() {
    api = ApiServer.start();
    client = api.client();
    claims = new ClaimLifecycle(client);
    scheduler = new DemoScheduler(client);
    client.resource(new NodeBuilder().withNewMetadata().withName("node-a").endMetadata().build()).create();
    client
        .resource(
            new ResourceClaimTemplateBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName("quarter")
                .endMetadata()
                .withNewSpec()
                .withNewSpec()
                .withNewDevices()
                .addNewRequest()
                .withName("gpu")
                .endRequest()
                .endDevices()
                .endSpec()
                .endSpec()
                .build())
        .create();
  }

  @AfterEach
  void stop() {
    client.close();
    api.close();
  }

  private Pod pod() {
    return client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName("notebook")
                .endMetadata()
                .withNewSpec()
                .addNewResourceClaim()
                .withName("card")
                .withResourceClaimTemplateName("quarter")
                .endResourceClaim()
                .endSpec()
                .build())
        .create();
  }

  /** What a driver's controller does. */
  private void allocate(ResourceClaim claim, boolean withFinalizer) {
    if (withFinalizer) {
      claim.getMetadata().getFinalizers().add(ClaimLifecycle.FINALIZER);
    }
    ResourceClaim current = client.resource(claim).update();
    client
        .resource(
            new ResourceClaimBuilder(current)
                .withNewStatus()
                .withAllocation(
                    new AllocationResultBuilder()
                        .withNodeSelector(
                            new NodeSelectorBuilder()
                                .addNewNodeSelectorTerm()
                                .addNewMatchField()
                                .withKey("metadata.name")
                                .withOperator("In")
                                .withValues(List.of("node-a"))
                                .endMatchField()
                                .endNodeSelectorTerm()
                                .build())
                        .build())
                .endStatus()
                .build())
        .updateStatus();
  }

  private ResourceClaim claim(Pod pod) {
    return Objects.requireNonNull(claims.claimsOf(pod).get("card"));
  }

  @Test
  void aPodWhoseStatusSomebodyElseWroteMeanwhileIsWrittenOnceMore() {
    Pod pod = pod();
    List<String> attempts = new ArrayList<>();
    Conflicts.editStatus(client, pod,
        current -> {
          if (attempts.isEmpty()) {
            client.pods().inNamespace("default").withName("notebook").editStatus(
                other -> new PodBuilder(other).editOrNewStatus().withReason("theirs").endStatus().build());
          }
          attempts.add("");
          return new PodBuilder(current).editOrNewStatus().withPhase("Running").endStatus().build();
        });
    assertThat(client.pods().inNamespace("default").withName("notebook").require().getStatus())
        .returns("theirs", PodStatus::getReason)
        .returns("Running", PodStatus::getPhase);
    assertThat(attempts).hasSize(2);
  }

  @Test
  void aClaimIsMadeFromItsTemplateForItsPod() {
    Pod pod = claims.createClaims(pod());

    ResourceClaim claim = claim(pod);
    assertThat(claim.getMetadata().getName()).matches("notebook-card-[a-z0-9]{5}");
    assertThat(claim.getMetadata().getOwnerReferences()).singleElement().satisfies(owner -> {
      assertThat(owner.getUid()).isEqualTo(pod.getMetadata().getUid());
      assertThat(owner.getController()).isTrue();
    });
    assertThat(claim.getMetadata().getAnnotations()).containsEntry("resource.kubernetes.io/pod-claim-name", "card");
    assertThat(claim.getSpec().getDevices().getRequests()).singleElement()
        .satisfies(request -> assertThat(request.getName()).isEqualTo("gpu"));
  }

  @Test
  void aPodWaitsAsUnschedulableUntilItsClaimIsAllocated() {
    Pod pod = claims.createClaims(pod());

    assertThat(scheduler.tryToBind(pod, claims.claimsOf(pod))).isEmpty();

    assertThat(client.resource(pod).get().getStatus().getConditions()).singleElement().satisfies(condition -> {
      assertThat(condition.getStatus()).isEqualTo("False");
      assertThat(condition.getReason()).isEqualTo("Unschedulable");
    });
  }

  @Test
  void aPodIsBoundToTheAllocationsNodeAndItsClaimReservedForIt() {
    Pod pod = claims.createClaims(pod());
    allocate(claim(pod), true);

    Optional<Pod> bound = scheduler.tryToBind(pod, claims.claimsOf(pod));

    assertThat(bound).get().satisfies(p -> assertThat(p.getSpec().getNodeName()).isEqualTo("node-a"));
    assertThat(claim(pod).getStatus().getReservedFor())
        .singleElement()
        .satisfies(user -> assertThat(user.getUid()).isEqualTo(pod.getMetadata().getUid()));
  }

  @Test
  void anAllocationMustSelectItsNodeByName() {
    var allocation = new AllocationResultBuilder().build();

    assertThatIllegalStateException().isThrownBy(() -> DemoScheduler.nodeOf(allocation));
  }

  @Test
  void whenThePodIsDoneItsClaimGoes() {
    Pod pod = claims.createClaims(pod());
    allocate(claim(pod), true);
    scheduler.tryToBind(pod, claims.claimsOf(pod));

    claims.endClaims(pod);

    assertThat(client.resources(ResourceClaim.class).inAnyNamespace().list().getItems()).isEmpty();
  }

  @Test
  void anAllocationWithoutTheFinalizerIsNotTakenBack() {
    Pod pod = claims.createClaims(pod());
    ResourceClaim claim = claim(pod);
    claim.getMetadata().getFinalizers().add("example.com/keeps-it");
    allocate(claim, false);
    scheduler.tryToBind(pod, claims.claimsOf(pod));

    claims.endClaims(pod);

    assertThat(claim(pod).getStatus().getAllocation()).isNotNull();
  }
}
