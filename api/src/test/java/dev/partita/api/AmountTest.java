package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AmountTest {
  @ParameterizedTest
  @CsvSource({"8Gi,8589934592", "1.5,1.5", "50e-6,0.00005", "1e3,1000", "-1,-1",
    "9223372036854775807,9223372036854775807"})
  void aQuantityStandsForANumber(String quantity, BigDecimal number) {
    assertThat(Amount.of(new Quantity(quantity))).isEqualByComparingTo(number);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e300000000", "1e-300000000", "5e10000", "x", "8Zi"})
  void whatNobodyCanWriteOutIsNone(String quantity) {
    assertThatThrownBy(() -> Amount.of(new Quantity(quantity))).isInstanceOf(IllegalArgumentException.class);
    assertThat(Amount.problem(new Quantity(quantity))).contains("is not a quantity such as 40Gi: " + quantity);
  }

  /** Of a million digits the JDK makes a number in 17 s. */
  @Test
  @Timeout(10)
  void aNumberOfVeryManyDigitsIsNone() {
    assertThat(Amount.problem(new Quantity("9".repeat(1_400_000)))).hasValueSatisfying(
        problem -> assertThat(problem).startsWith("is not a quantity such as 40Gi: 999").hasSizeLessThan(200));
  }
}
