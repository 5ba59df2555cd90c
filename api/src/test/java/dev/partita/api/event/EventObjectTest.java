package dev.partita.api.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class EventObjectTest {
  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00.123456789Z");

  @Test
  void saysWhatHappenedToWhichClaimAndCountsItWhenSaidAgain() {
    Event first = event("it does not fit").first("a.b", "kubelet-plugin", "n".repeat(200), NOW);
    assertThat(first.getRegarding().getUid()).isEqualTo("u-1");
    assertThat(first.getRegarding().getKind()).isEqualTo("ResourceClaim");
    assertThat(first.getMetadata().getNamespace()).isEqualTo("shop");
    assertThat(first.getType()).isEqualTo("Warning");
    assertThat(first.getEventTime().getTime()).isEqualTo("2026-03-01T10:00:00.123456Z");
    assertThat(first.getReportingController()).isEqualTo("gpu.partita.dev/kubelet-plugin");
    assertThat(first.getReportingInstance()).hasSize(128);

    Event third = EventObject.again(EventObject.again(first, NOW), NOW.plusSeconds(60));
    assertThat(third.getSeries().getCount()).isEqualTo(3);
    assertThat(third.getSeries().getLastObservedTime().getTime()).isEqualTo("2026-03-01T10:01:00.123456Z");
    assertThat(third.getEventTime()).isEqualTo(first.getEventTime());
  }

  @Test
  void aNoteIsCutBetweenCharactersToTheBytesThatTheApiTakes() {
    String note = event("ü€".repeat(400)).note();
    assertThat(note.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(1024).hasSizeGreaterThan(1015);
    assertThat(note).endsWith("…").doesNotContain("\uFFFD");
  }

  @Test
  void aNoteThatFitsIsNotCutAndACharacterOfTwoIsNotTornApart() {
    assertThat(EventObject.cut("n".repeat(1024))).hasSize(1024).doesNotContain("…");
    for (int before = 1015; before <= 1026; before++) {
      assertThat(EventObject.cut("n".repeat(before) + "\uD83D\uDE00".repeat(9))).endsWith("…").doesNotContain("?");
    }
  }

  @Test
  void namesAreTheSameForTheSameWordsAndFitTheApi() {
    assertThat(event("a").nameByReason()).isEqualTo(event("b").nameByReason()).matches("claim\\.[0-9a-f]{16}");
    assertThat(event("a").nameByNote()).isEqualTo(event("a").nameByNote()).isNotEqualTo(event("b").nameByNote());
    EventObject longest = new EventObject(EventObject.About.CLAIM, "shop", "c".repeat(199) + ".-" + "c".repeat(52),
        "u-1", true, "R", "R", "a");
    assertThat(longest.nameByNote()).startsWith("c".repeat(199) + ".").doesNotContain("-")
        .hasSizeLessThanOrEqualTo(253);
  }

  @Test
  void aPodIsNamedByItsOwnGroup() {
    var regarding = new EventObject(EventObject.About.POD, "shop", "web", "u-2", false, "R", "R", "a")
        .first("a.b", "c", "i", NOW).getRegarding();
    assertThat(regarding.getApiVersion()).isEqualTo("v1");
    assertThat(regarding.getKind()).isEqualTo("Pod");
    assertThat(regarding.getName()).isEqualTo("web");
  }

  private static EventObject event(String note) {
    return new EventObject(EventObject.About.CLAIM, "shop", "claim", "u-1", true, "PrepareFailed", "Prepare", note);
  }
}
