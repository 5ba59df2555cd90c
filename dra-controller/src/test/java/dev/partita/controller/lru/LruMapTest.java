package dev.partita.controller.lru;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LruMapTest {
  @Test
  void theEntryThatWasUsedLongestAgoMakesRoom() {
    Map<String, Integer> map = new LruMap<>(2);
    map.put("a", 1);
    map.put("b", 2);
    assertThat(map.get("a")).isEqualTo(1);
    map.put("c", 3);
    assertThat(map).containsOnlyKeys("a", "c");
    map.computeIfAbsent("a", _ -> 4);
    map.put("d", 5);
    assertThat(map).containsOnly(Map.entry("a", 1), Map.entry("d", 5));
  }
}
