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
  void aVendorsSpellingIsRead(String spelling, String version) {
    assertThat(SemanticVersion.ofVendor(spelling).map(SemanticVersion::toString)).contains(version);
  }

  @ParameterizedTest
  @ValueSource(strings = {"580.95.05", "1.2", "01.2.3", "", "1.2.3-", "one"})
  void strictlyThatIsNone(String text) {
    assertThat(SemanticVersion.parse(text)).isEmpty();
  }

  /** k8s.io/apiserver/pkg/cel/library, semverlib.go, and github.com/blang/semver/v4, which it reads the rest by. */
  @ParameterizedTest
  @CsvSource({"1.2.3,1.2.3", "v1.2.3,1.2.3", "1,1.0.0", "v1.2,1.2.0", "01.02.03,1.2.3", "000.0.00,0.0.0",
    "1.2.3-alpha,1.2.3-alpha", "v01.2.3-rc.1+build.05,1.2.3-rc.1", "1.2.003-x,1.2.3-x", "1.2.0-x,1.2.0-x",
    "1.2.3--,1.2.3--", "1.2.3-0a,1.2.3-0a", "1.2.3+a-b,1.2.3", "18446744073709551615.0.0,18446744073709551615.0.0"})
  void kubernetesNormalises(String text, String version) {
    assertThat(SemanticVersion.parseNormalised(text).map(SemanticVersion::toString)).contains(version);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "v", "vv1.2.3", "V1.2.3", " 1.2.3", "1.2.3 ", "1.2.3.4", "1.2-alpha", "1+build", "1-a.2", "1..3",
        ".1.2", "1.2.", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3-a..b", "1.2.3+a..b", "1.2.3-a.", "1.2.3+a.",
        "1.2.3-ä", "1.2.3-a+b+c", "535.104.12x", "18446744073709551616.0.0", "1.2.3-18446744073709551616", "-1.2.3",
        "1.2.3\n"})
  void whatKubernetesRefusesIsNoVersionEither(String text) {
    assertThat(SemanticVersion.parseNormalised(text)).isEmpty();
    assertThat(SemanticVersion.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.2.3-x.7.z.92", "1.2.3+01", "1.2.3-a+b.-c", "0.0.0", "18446744073709551615.1.1"})
  void whatKeepsToSemversLetterIsRead(String text) {
    assertThat(SemanticVersion.parse(text)).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.2.3-", "1.2.3+"})
  void aLongVersionIsNoneAndTakesNoStack(String begin) {
    String text = begin + "a.".repeat(100_000) + "a";
    assertThat(SemanticVersion.parse(text)).isEmpty();
    assertThat(SemanticVersion.parseNormalised(text)).isEmpty();
    assertThat(SemanticVersion.ofVendor(text)).map(SemanticVersion::toString).contains("1.2.3");
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
