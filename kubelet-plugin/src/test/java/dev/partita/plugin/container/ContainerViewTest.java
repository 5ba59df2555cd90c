package dev.partita.plugin.container;

import static dev.partita.plugin.grant.Grants.share;
import static dev.partita.plugin.grant.Grants.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.grant.Grant;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ResourceClaim;
import io.fabric8.kubernetes.api.model.ResourceClaimBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ContainerViewTest {
  private static final Grant FIRST = share("first", 1, "k1", 8, 25);
  private static final Grant SECOND = share("second", 3, "k3", 16, 0);

  @Test
  void cardsAreNumberedByTheirPlaceOnTheBus() {
    ContainerView view = view(List.of(SECOND, FIRST), pod(uses("claim")));
    assertThat(view.env())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "k1",
                List.of(
                    "CUDA_DEVICE_MEMORY_LIMIT_0=8192m",
                    "CUDA_DEVICE_SM_LIMIT_0=25",
                    "GPU_CORE_UTILIZATION_POLICY=force",
                    "CUDA_TASK_PRIORITY=1"),
                "k3",
                List.of("CUDA_DEVICE_MEMORY_LIMIT_1=16384m", "CUDA_TASK_PRIORITY=1")));
  }

  @Test
  void aContainerThatUsesOneRequestCountsItsOwnCardsOnly() {
    ContainerView view = view(List.of(FIRST, SECOND), pod(uses("claim", "first"), uses("claim", "second/small")));
    assertThat(view.env().get("k1")).contains("CUDA_DEVICE_MEMORY_LIMIT_0=8192m");
    assertThat(view.env().get("k3")).contains("CUDA_DEVICE_MEMORY_LIMIT_0=16384m");
  }

  @Test
  void aShareThatContainersNumberDifferentlyGetsNoNumber() {
    ContainerView view = view(List.of(FIRST, SECOND), pod(uses("claim"), uses("claim", "second")));
    assertThat(view.env().get("k1")).contains("CUDA_DEVICE_MEMORY_LIMIT_0=8192m");
    assertThat(view.env().get("k3")).containsExactly("CUDA_TASK_PRIORITY=1");
  }

  @Test
  void cardsOfOtherClaimsInTheContainerCount() {
    Pod pod = pod(uses("other", "any"), uses("claim"));
    pod.getSpec().getContainers().getFirst().getResources().getClaims()
        .addAll(uses("claim", "first").getResources().getClaims());
    Map<String, List<Grant>> others = Map.of("other", List.of(share("any", 0, "k0", 1, 0)));
    ContainerView view = ContainerView.ofPods("claim", List.of(FIRST), List.of(pod), others);
    assertThat(view.env().get("k1")).containsExactly("GPU_CORE_UTILIZATION_POLICY=force", "CUDA_TASK_PRIORITY=1");
    pod.getSpec().getContainers().removeLast();
    view = ContainerView.ofPods("claim", List.of(FIRST), List.of(pod), others);
    assertThat(view.env().get("k1")).contains("CUDA_DEVICE_MEMORY_LIMIT_1=8192m");
  }

  @Test
  void sharesOfOneCardInOneContainerAreOneLimit() {
    ContainerView view = view(List.of(FIRST, share("second", 1, "k9", 1, 10)), pod(uses("claim")));
    assertThat(view.env().get("k1")).contains("CUDA_DEVICE_MEMORY_LIMIT_0=9216m", "CUDA_DEVICE_SM_LIMIT_0=35");
    assertThat(view.env().get("k9")).contains("CUDA_DEVICE_MEMORY_LIMIT_0=9216m", "CUDA_DEVICE_SM_LIMIT_0=35");
  }

  @Test
  void aWholeCardBesideAShareIsMixed() {
    assertThat(view(List.of(FIRST, whole("card", 0)), pod(uses("claim"))).mixed()).isTrue();
    assertThat(view(List.of(FIRST, whole("card", 0)), pod(uses("claim", "first"), uses("claim", "card"))).mixed())
        .isFalse();
    assertThat(
        ContainerView
            .ofPods("claim", List.of(whole("card", 0)), List.of(pod(uses("claim"), uses("other"))),
                Map.of("other", List.of(FIRST)))
            .mixed())
        .isFalse();
  }

  @Test
  void whatIsNotKnownGetsNoNumbers() {
    assertThat(ContainerView.ofUnknown(List.of(FIRST)).env().get("k1"))
        .containsExactly("GPU_CORE_UTILIZATION_POLICY=force", "CUDA_TASK_PRIORITY=1");
    assertThat(ContainerView.ofClaimAlone(List.of(FIRST)).env().get("k1")).contains("CUDA_DEVICE_MEMORY_LIMIT_0=8192m");
  }

  @Test
  void anExtendedResourcesClaimIsFoundByItsMapping() {
    Pod pod = pod(new ContainerBuilder().withName("main").build());
    pod =
        new PodBuilder(pod)
            .editStatus()
            .withNewExtendedResourceClaimStatus()
            .withResourceClaimName("claim")
            .addNewRequestMapping()
            .withContainerName("main")
            .withResourceName("nvidia.com/gpu")
            .withRequestName("first")
            .endRequestMapping()
            .endExtendedResourceClaimStatus()
            .endStatus()
            .build();
    assertThat(ContainerView.claimNames(pod)).contains("claim");
    assertThat(view(List.of(FIRST), pod).env().get("k1")).contains("CUDA_DEVICE_MEMORY_LIMIT_0=8192m");
  }

  private static ContainerView view(List<Grant> grants, Pod pod) {
    return ContainerView.ofPods("claim", grants, List.of(pod), Map.of());
  }

  /** A pod that names its claims "claim" (made from a template) and "other". */
  private static Pod pod(Container... containers) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("pod")
        .endMetadata()
        .withNewSpec()
        .withContainers(containers)
        .addNewResourceClaim()
        .withName("entry-claim")
        .withResourceClaimTemplateName("template")
        .endResourceClaim()
        .addNewResourceClaim()
        .withName("entry-other")
        .withResourceClaimName("other")
        .endResourceClaim()
        .endSpec()
        .withNewStatus()
        .addNewResourceClaimStatus("entry-claim", "claim")
        .endStatus()
        .build();
  }

  private static Container uses(String claim) {
    return uses(new ResourceClaimBuilder().withName("entry-" + claim).build());
  }

  private static Container uses(String claim, String request) {
    return uses(new ResourceClaimBuilder().withName("entry-" + claim).withRequest(request).build());
  }

  private static Container uses(ResourceClaim entry) {
    return new ContainerBuilder()
        .withName("c")
        .withNewResources()
        .withClaims(entry)
        .endResources()
        .build();
  }
}
