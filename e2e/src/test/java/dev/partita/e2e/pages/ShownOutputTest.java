package dev.partita.e2e.pages;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShownOutputTest {
  private static boolean same(String shown, String output) {
    return new ShownOutput(shown).is(output);
  }

  @Test
  void whatDiffersFromClusterToClusterMayDiffer() {
    assertThat(same("pod/quarter-h200-gpu-qjf7k  node-0  gpu-0  GPU-1ba0c4c3-9b01-4e68-a68c-25c499aa83a0",
        "pod/quarter-h200-gpu-hplwx node-3 gpu-2   GPU-54fac0bc-373a-4bd9-bbc6-24572bf04ce7\n")).isTrue();
    assertThat(same("pod/background-7997d6f987-lm4k9", "pod/background-5d4f8c7b9-2xw4z")).isTrue();
    assertThat(same("0 of 8 cards fit: 8 cards on 2 nodes", "0 of 20 cards fit: 20 cards on 5 nodes")).isTrue();
    assertThat(same("2 nodes (4 cards each): full\n  node-0, node-1\n", "3 nodes (2 cards each): full\n  a, b, c\n"))
        .isTrue();
    assertThat(same("8GiB  -  1", "8GiB  25%  1")).isTrue();
    assertThat(
        same("\"uid\": \"c7e7b22e-239b-4498-b27c-7f1344481e14\"", "\"uid\": \"7ca8c8a5-1b62-4f2a-8b82-00061ca1b689\""))
        .isTrue();
    assertThat(same("\"string\": \"0000:1b:00.0\"", "\"string\": \"0000:3d:00.0\"")).isTrue();
    assertThat(same("8GiB  4.2GiB  25%  …", "8GiB  -  25%  -")).isTrue();
  }

  @Test
  void whatThePageSaysOfSharesMustComeOut() {
    assertThat(same("total=8192MiB", "total=8193MiB")).isFalse();
    assertThat(same("pod/quarter-h200", "pod/quarter-h100")).isFalse();
    assertThat(same("gpu-0-shared", "gpu-0")).isFalse();
    assertThat(same("8GiB  25%", "8GiB  -")).isFalse();
    assertThat(same("8GiB  4.2GiB", "12GiB  4.2GiB")).isFalse();
    assertThat(same("gpu-0  has (139.8 GiB)", "gpu-1 has (139x8 GiB)")).isFalse();
  }

  @Test
  void linesAreLeftOutOnlyWhereThePageSaysSo() {
    assertThat(same("one\n\ntwo\n", "one\ntwo\n")).isTrue();
    assertThat(same("one\ntwo\n", "one\nand a half\ntwo\n")).isFalse();
    assertThat(same("one\n…\ntwo\n", "one\nand a half\n\ntwo\n")).isTrue();
    assertThat(same("one\n", "zero\none\n")).isFalse();
    assertThat(same("…\none\n…\n", "zero\none\ntwo\n")).isTrue();
    assertThat(same("a=1,…} 5", "a=1,b=2} 5")).isTrue();
  }
}
