package dev.partita.controller.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.GpuNodes;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CompactObjectsTest {
  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  @Test
  void theObjectSaysWhatItSaid() {
    assertThat(CompactObjects.compact(pod())).isEqualTo(pod());
    assertThat(JSON.asJson(CompactObjects.compact(pod()))).isEqualTo(JSON.asJson(pod()));
    GpuNode node = GpuNodes.ready("node-0", 2, "NVIDIA H200", GpuNodes.GIB);
    assertThat(JSON.asJson(CompactObjects.compact(node)))
        .isEqualTo(JSON.asJson(GpuNodes.ready("node-0", 2, "NVIDIA H200", GpuNodes.GIB)));
  }

  @Test
  void noEmptyListOrMapIsLeftThatCouldGrow() throws IllegalAccessException {
    assertThat(growable(pod())).as("before").hasSizeGreaterThan(20);
    assertThat(growable(CompactObjects.compact(pod()))).isEmpty();
  }

  @Test
  void aCopyOfItCanBeChanged() {
    Pod copy = new PodBuilder(CompactObjects.compact(pod())).editSpec().addNewSchedulingGate("gate").endSpec().build();
    assertThat(copy.getSpec().getSchedulingGates()).extracting("name").containsExactly("gate");
    assertThat(new PodBuilder(copy).editSpec().withSchedulingGates().endSpec().build()).isEqualTo(pod());
  }

  private static Pod pod() {
    Pod made =
        new PodBuilder()
            .withNewMetadata()
            .withName("p")
            .addToLabels("app", "a")
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName("main")
            .withNewResources()
            .addToRequests("cpu", new Quantity("1"))
            .endResources()
            .endContainer()
            .endSpec()
            .withNewStatus()
            .withPhase("Pending")
            .endStatus()
            .build();
    return Objects.requireNonNull(JSON.unmarshal(JSON.asJson(made), Pod.class));
  }

  private static List<Object> growable(Object root) throws IllegalAccessException {
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Object> found = new ArrayList<>();
    collect(root, seen, found);
    return found;
  }

  private static void collect(Object object, Set<Object> seen, List<Object> found) throws IllegalAccessException {
    if (!seen.add(object)) {
      return;
    }
    if ((object instanceof ArrayList<?> list && list.isEmpty())
        || (object instanceof LinkedHashMap<?, ?> map && map.isEmpty())) {
      found.add(object);
    }
    Collection<?> within =
        object instanceof Map<?, ?> map ? map.values() : object instanceof Collection<?> list ? list : List.of();
    for (Object value : within) {
      collect(value, seen, found);
    }
    if (object.getClass().getName().startsWith("io.fabric8.kubernetes.api.model")) {
      for (Field field : object.getClass().getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
          field.setAccessible(true);
          Object value = field.get(object);
          if (value != null) {
            collect(value, seen, found);
          }
        }
      }
    }
  }
}
