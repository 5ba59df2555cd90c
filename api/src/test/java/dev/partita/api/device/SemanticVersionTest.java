package dev.partita.api.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SemanticVersionTest {
  @ParameterizedTest
  @CsvSource({"580.95.05,580.95.5", "13.0,13.0.0", "9,9.0.0", "v1.2.3,1.2.3",
    "535.104.12-grid,535.104.12", "1.2.3.4,1.2.3"})
  void aVendorsSpellingIsNormalised(String spelling, String version) {
    assertThat(SemanticVersion.normalise(spelling).map(SemanticVersion::toString)).contains(version);
  }

  @ParameterizedTest
  @ValueSource(strings = {"580.95.05", "1.2", "01.2.3", "", "1.2.3-", "one"})
  void strictlyThatIsNone(String text) {
    assertThat(SemanticVersion.parse(text)).isEmpty();
  }

  @Test
  void orderIsSemversOwn() {
    String[] ascending = {"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11",
      "1.0.0-rc.1", "1.0.0", "1.2.0", "1.10.0"};
    for (int i = 0; i + 1 < ascending.length; i++) {
      SemanticVersion low = SemanticVersion.parse(ascending[i]).orElseThrow();
      SemanticVersion high = SemanticVersion.parse(ascending[i + 1]).orElseThrow();
      assertThat(low).isLessThan(high);
    }
  }
}
