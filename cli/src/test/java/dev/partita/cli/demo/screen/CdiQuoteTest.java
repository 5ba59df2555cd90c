package dev.partita.cli.demo.screen;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CdiQuoteTest {
  @Test
  void theMiddleOfUuidsIsLeftOut() {
    assertThat(CdiQuote
        .shortened("/etc/shares/90abff6e-34fe-4f5f-a28e-cade0a07f617/quota, GPU-a3b76e15-3300-4b4d-899b-5f94a955a125"))
        .isEqualTo("/etc/shares/90ab..f617/quota, GPU-a3b7..a125");
  }
}
