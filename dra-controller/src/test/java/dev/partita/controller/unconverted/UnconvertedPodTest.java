package dev.partita.controller.unconverted;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnconvertedPodTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, Quantity> HAMI =
      Map.of("nvidia.com/gpu", new Quantity("1"), "nvidia.com/gpumem", new Quantity("1024"), "cpu", new Quantity("1"));

  @Test
  void whatNoNodeHasOfOtherSystemsResourcesIsMissing() {
    assertThat(missing(pod(HAMI), Set.of())).containsExactly("nvidia.com/gpu", "nvidia.com/gpumem");
    assertThat(missing(pod(HAMI), Set.of("nvidia.com/gpu"))).as("another device plugin serves whole cards")
        .containsExactly("nvidia.com/gpumem");
    assertThat(missing(pod(HAMI), Set.of("nvidia.com/gpu", "nvidia.com/gpumem"))).as("its cards are taken").isEmpty();
    assertThat(missing(pod(Map.of("cpu", new Quantity("100"), "example.com/fpga", new Quantity("1"))), Set.of()))
        .isEmpty();
  }

  @Test
  void aPodThatHasANodeOrWasNotLookedAtOrGoesWaitsForNothing() {
    Pod waits = pod(HAMI);
    assertThat(missing(new PodBuilder(waits).editSpec().withNodeName("node").endSpec().build(), Set.of())).isEmpty();
    assertThat(missing(
        new PodBuilder(waits).editMetadata().withDeletionTimestamp("2026-01-01T00:00:00Z").endMetadata().build(),
        Set.of())).isEmpty();
    assertThat(missing(new PodBuilder(waits).editStatus().editFirstCondition().withReason("SchedulingGated")
        .endCondition().endStatus().build(), Set.of())).isEmpty();
    assertThat(missing(new PodBuilder(waits).withStatus(null).build(), Set.of())).isEmpty();
  }

  @Test
  void oneThatCouldBeConvertedIsToldToBeMadeAnew() {
    assertThat(note(pod(HAMI)))
        .startsWith(
            "asks for nvidia.com/gpu, which no node has, and was not converted to a claim: no controller answered the API server when it was made")
        .contains("Make it anew", "partita convert");
  }

  @Test
  void oneThatCannotIsToldWhy() {
    Pod pod = pod(Map.of("nvidia.com/gpu", new Quantity("1"), "aliyun.com/gpu-mem", new Quantity("8")));
    assertThat(note(pod)).startsWith("asks for nvidia.com/gpu, which no node has, and cannot be converted to claims: ")
        .contains("asks for GPUs in several ways");
  }

  @Test
  void aResourceOfWhichANodeHasNoneIsNotOffered() {
    assertThat(UnconvertedPod.isOffered(node(Map.of("nvidia.com/gpu", new Quantity("8"))), "nvidia.com/gpu")).isTrue();
    assertThat(UnconvertedPod.isOffered(node(Map.of("nvidia.com/gpu", new Quantity("0"))), "nvidia.com/gpu")).isFalse();
    assertThat(UnconvertedPod.isOffered(node(Map.of()), "nvidia.com/gpu")).isFalse();
    assertThat(UnconvertedPod.isOffered(new NodeBuilder().build(), "nvidia.com/gpu")).isFalse();
  }

  private static Node node(Map<String, Quantity> allocatable) {
    return new NodeBuilder().withNewStatus().withAllocatable(allocatable).endStatus().build();
  }

  private static Collection<String> missing(Pod pod, Set<String> offered) {
    return UnconvertedPod.missing(pod, offered::contains);
  }

  private static String note(Pod pod) {
    return UnconvertedPod.note(Set.of("nvidia.com/gpu"), JSON.valueToTree(pod)).orElseThrow();
  }

  private static Pod pod(Map<String, Quantity> limits) {
    return UnschedulablePods.pod("default", "pod", Map.of(), limits);
  }
}
