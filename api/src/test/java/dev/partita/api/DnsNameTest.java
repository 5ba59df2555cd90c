package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DnsNameTest {
  @ParameterizedTest
  @CsvSource({
    "gpu, true, true", "a, true, true", "0, true, true", "a-1, true, true", "a.b, false, true", "a-b.c-d, false, true",
    "'', false, false", "., false, false", ".., false, false", "a..b, false, false", ".a, false, false",
    "a., false, false", "-a, false, false", "a-, false, false", "a-.b, false, false", "A, false, false",
    "a/b, false, false", "../a, false, false", "a b, false, false", "a_b, false, false", "ä, false, false",
  })
  void tellsLabelsFromSubdomainsFromWhatIsNeither(String text, boolean label, boolean subdomain) {
    assertThat(DnsName.isLabel(text)).isEqualTo(label);
    assertThat(DnsName.isSubdomain(text)).isEqualTo(subdomain);
    assertThat(DnsName.isSubdomain(text + "\n")).isFalse();
    assertThat(DnsName.isSubdomain(text + "\0")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"63, true, true", "64, false, true", "253, false, true", "254, false, false"})
  void neitherIsLongerThanTheApiServerLetsItBe(int length, boolean label, boolean subdomain) {
    assertThat(DnsName.isLabel("a".repeat(length))).isEqualTo(label);
    assertThat(DnsName.isSubdomain("a".repeat(length))).isEqualTo(subdomain);
  }
}
