package dev.partita.controller.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SortedArrayMapTest {
  private static final Map<String, Integer> TREE = new TreeMap<>(Map.of("uuid", 1, "model", 2, "a.example/x", 3));

  private final Map<String, Integer> map = SortedArrayMap.of(new TreeMap<>(TREE), new SharedValues());

  @Test
  void itIsTheMapThatItWasMadeOf() {
    assertThat(map).isEqualTo(TREE).hasSameHashCodeAs(TREE);
    assertThat(TREE).isEqualTo(map);
    assertThat(map.entrySet()).containsExactlyElementsOf(TREE.entrySet());
  }

  @Test
  void whatItLacksIsNotFound() {
    assertThat(map.get("model")).isEqualTo(2);
    assertThat(map.get("modem")).isNull();
    assertThat(map.get(null)).isNull();
    assertThat(map.containsKey("zzz")).isFalse();
  }
}
