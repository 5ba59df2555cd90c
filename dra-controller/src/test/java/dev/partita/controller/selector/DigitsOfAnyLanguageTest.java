package dev.partita.controller.selector;

import static dev.partita.controller.selector.Devices.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Alone, since it changes what language the whole process speaks. */
@Isolated
class DigitsOfAnyLanguageTest {
  /** As in {@code partita simulate}, which has the language of whoever starts it. */
  @Test
  void numbersInTextsHaveTheSameDigitsWhateverTheMachinesLanguageHas() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG"));
    try {
      assertThat("%d".formatted(25)).as("these digits are others").isNotEqualTo("25");
      String selector = "'%e %s %s'.format([0.5, 2e-9, timestamp('2023-02-03T23:31:20.5Z')])"
          + " == '5.000000×10⁻⁰¹ 2e-09 2023-02-03T23:31:20.5Z'";
      assertThat(new DeviceSelectors().evaluate(selector, SHARED)).isEqualTo(Verdict.TRUE);
    } finally {
      Locale.setDefault(before);
    }
  }
}
