package dev.partita.controller.decode;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ObjectBytesTest {
  private record Pair(long number, String text) {}

  @Test
  void objectsTakeTheirFieldsInStepsOfEightAndWhatTheyReferTo() {
    assertThat(ObjectBytes.of(null)).isZero();
    assertThat(ObjectBytes.of("12345678")).isEqualTo(24 + 24);
    assertThat(ObjectBytes.of(new byte[100])).isEqualTo(120);
    assertThat(ObjectBytes.of(new Pair(1, "12345678"))).isEqualTo(24 + 48);
    assertThat(ObjectBytes.of(List.of("12345678", "12345678"))).isEqualTo(24 + 24 + 2 * 48);
    assertThat(ObjectBytes.of(List.of())).isZero();
    assertThat(ObjectBytes.of(Map.of())).isZero();
  }

  @Test
  void aStoreCountsWhatItHoldsNow() {
    CompactStore<Pod> store = new CompactStore<>(pod -> {});
    store.put("a", pod("a", "short"));
    long one = store.bytes();
    assertThat(one).isBetween(200L, 5_000L);
    store.put("b", pod("b", "short"));
    assertThat(store.bytes()).isEqualTo(2 * one);
    store.put("b", pod("b", "x".repeat(10_000)));
    assertThat(store.bytes()).isBetween(2 * one + 9_900, 2 * one + 10_100);
    store.remove("b");
    store.remove("never there");
    assertThat(store.bytes()).isEqualTo(one);
  }

  @Test
  void aPackedWholeCountsAsItIsKept() {
    PackedStore<Pod> store = new PackedStore<>(new io.fabric8.kubernetes.client.utils.KubernetesSerialization(),
        Pod.class, pod -> pod.getMetadata().setAnnotations(Map.of()));
    store.put("a", pod("a", "short"));
    long light = store.bytes();
    store.put("a", pod("a", "x".repeat(10_000)));
    assertThat(store.bytes()).as("packed").isBetween(light, light + 1_000);
    store.remove("a");
    assertThat(store.bytes()).isZero();
  }

  private static Pod pod(String name, String note) {
    return new PodBuilder().withNewMetadata().withName(name).addToAnnotations("note", note).endMetadata().build();
  }
}
