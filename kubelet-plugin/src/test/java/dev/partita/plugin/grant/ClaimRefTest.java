package dev.partita.plugin.grant;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimRefTest {
  @ParameterizedTest
  @ValueSource(strings = {"a", "Z", "0", "a-b", "a--b", "0b5e8a9e-0000-4000-8000-000000000001",
    "0123456789012345678901234567890123456789012345678901234567890123"})
  void aUidIsLettersDigitsAndDashesInside(String uid) {
    assertThat(ClaimRef.isUid(uid)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-", "-a", "a-", "..", "a/b", "a b", "a.b", "a\n", "a\0", "\u00e4",
    "\u0661", "01234567890123456789012345678901234567890123456789012345678901234"})
  void nothingElseIs(String text) {
    assertThat(ClaimRef.isUid(text)).isFalse();
  }
}
