package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BytesTest {
  private static final long GIB = 1L << 30;

  @Test
  void areExactForTheApi() {
    assertThat(Bytes.quantity(8 * GIB)).hasToString("8Gi");
    assertThat(Bytes.quantity(143_771L << 20)).hasToString("143771Mi");
    assertThat(Bytes.quantity(1_000_001)).hasToString("1000001");
    assertThat(Bytes.quantity(0)).hasToString("0");
    assertThat(Bytes.of("8Gi")).isEqualTo(8 * GIB);
    assertThat(Bytes.of(Bytes.quantity(1_000_001))).isEqualTo(1_000_001);
  }

  @Test
  void areShortForPeopleAndNeverPromiseMoreThanThereIs() {
    assertThat(Bytes.words(143_771L << 20)).isEqualTo("140.4 GiB");
    assertThat(Bytes.words(6 * GIB)).isEqualTo("6 GiB");
    assertThat(Bytes.words(6 * GIB - 1)).isEqualTo("5.9 GiB");
    assertThat(Bytes.words(GIB - 1)).isEqualTo("1023.9 MiB");
    assertThat(Bytes.words(12)).isEqualTo("12 bytes");
  }
}
