package dev.partita.controller.turns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class PodShapeTest {
  private static final Pod POD = new PodBuilder().withNewMetadata().withName("a").withNamespace("n").endMetadata()
      .withNewSpec().addNewContainer().endContainer().endSpec().build();

  @Test
  void podsThatDifferInTheirNamesAndTheirClaimsNamesAreAlike() {
    Pod other =
        new PodBuilder(POD).editMetadata().withName("b").withUid("uid-b").addToLabels("l", "v").endMetadata().build();
    assertThat(shape(POD, "claim-a", 8)).isEqualTo(shape(other, "claim-b", 8))
        .hasSameHashCodeAs(shape(other, "claim-b", 8));
  }

  @Test
  void podsThatDifferInAnythingThatADecisionReadsAreNot() {
    PodShape shape = shape(POD, "c", 8);
    assertThat(shape).isNotEqualTo(shape(POD, "c", 9));
    assertThat(shape)
        .isNotEqualTo(shape(new PodBuilder(POD).editMetadata().withNamespace("m").endMetadata().build(), "c", 8));
    assertThat(shape).isNotEqualTo(shape(new PodBuilder(POD).editSpec().withPriority(5).endSpec().build(), "c", 8));
    assertThat(shape)
        .isNotEqualTo(shape(new PodBuilder(POD).editSpec().withNodeName("node-0").endSpec().build(), "c", 8));
    assertThat(shape).isNotEqualTo(
        shape(new PodBuilder(POD).editSpec().withNodeSelector(Map.of("zone", "a")).endSpec().build(), "c", 8));
    assertThat(shape).isNotEqualTo(shape(new PodBuilder(POD).editSpec()
        .withTolerations(new Toleration("NoSchedule", "k", "Exists", null, null)).endSpec().build(), "c", 8));
    assertThat(shape)
        .isNotEqualTo(
            shape(
                new PodBuilder(POD)
                    .editSpec()
                    .editFirstContainer()
                    .withNewResources()
                    .withRequests(Map.of("cpu", new Quantity("2")))
                    .endResources()
                    .endContainer()
                    .endSpec()
                    .build(),
                "c",
                8));
    assertThat(shape)
        .isNotEqualTo(
            shape(
                new PodBuilder(POD)
                    .editSpec()
                    .withNewAffinity()
                    .withNewNodeAffinity()
                    .withNewRequiredDuringSchedulingIgnoredDuringExecution()
                    .addNewNodeSelectorTerm()
                    .addToMatchExpressions(new NodeSelectorRequirement("zone", "In", List.of("a")))
                    .endNodeSelectorTerm()
                    .endRequiredDuringSchedulingIgnoredDuringExecution()
                    .endNodeAffinity()
                    .endAffinity()
                    .endSpec()
                    .build(),
                "c",
                8));
  }

  private static PodShape shape(Pod pod, String claim, long bytes) {
    DeviceRequest request =
        DeviceRequest.of("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
            CapacityRequest.of(OptionalLong.of(bytes), OptionalLong.empty()));
    return PodShape.of(pod, List.of(), List.of(new ClaimRequest(new ClaimRef("n", claim, "uid-" + claim),
        List.of(new NamedRequest("gpu", List.of(request))), List.of())));
  }
}
