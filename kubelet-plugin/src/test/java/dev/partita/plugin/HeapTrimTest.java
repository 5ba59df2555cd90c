package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapTrimTest {
  private static final long MIB = 1L << 20;

  private long committed = 60 * MIB;
  private int collections;

  @Test
  void theHeapIsCollectedWhenItHasGrownByMoreThanAQuarterAndNotWhileItStays() {
    HeapTrim trim =
        new HeapTrim(
            () -> committed,
            () -> {
              collections++;
              committed = 16 * MIB;
            });
    trim.trim();
    assertThat(collections).as("what the start has left").isEqualTo(1);
    trim.trim();
    committed = 24 * MIB;
    trim.trim();
    assertThat(collections).isEqualTo(1);
    committed = 28 * MIB;
    trim.trim();
    assertThat(collections).isEqualTo(2);
  }
}
