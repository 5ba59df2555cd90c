package dev.partita.plugin.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReserveTest {
  private static final long GIB = 1L << 30;

  @Test
  void isAnAmountOrAPartOfTheCardAndNeverMoreThanTheCard() {
    assertThat(Reserve.parse("0").of(GIB)).isZero();
    assertThat(Reserve.parse("512Mi").of(GIB)).isEqualTo(GIB / 2);
    assertThat(Reserve.parse("2Gi").of(GIB)).isEqualTo(GIB);
    assertThat(Reserve.parse("25%").of(GIB)).isEqualTo(GIB / 4);
    assertThat(Reserve.parse("0.5%").of(1000)).isEqualTo(5);
    assertThat(Reserve.parse("100%").of(GIB)).isEqualTo(GIB);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "%", "-1", "101%", "1.5.5%", "much", "5 %"})
  void anythingElseIsRefusedWithWhatCanBeWritten(String text) {
    assertThatThrownBy(() -> Reserve.parse(text)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("512Mi").hasMessageContaining("1.5%");
  }
}
