package dev.partita.plugin.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class XidKindTest {
  @ParameterizedTest
  @ValueSource(longs = {13, 31, 45, 68, 69, 94, 109})
  void whatAProgramCausesIsNoMatterOfTheCard(long xid) {
    assertThat(XidKind.of(xid)).isEqualTo(XidKind.PROGRAM);
  }

  @ParameterizedTest
  @ValueSource(longs = {43, 63, 92})
  void whatTheCatalogueSaysToIgnoreIsANote(long xid) {
    assertThat(XidKind.of(xid)).isEqualTo(XidKind.NOTE);
  }

  @ParameterizedTest
  @ValueSource(longs = {46, 48, 62, 64, 74, 79, 95, 119, 120, 140, 143, 144})
  void whatACardMustBeResetForCountsAgainstIt(long xid) {
    assertThat(XidKind.of(xid)).isEqualTo(XidKind.CARD);
  }

  @Test
  void anErrorThatSaysWhatTheDriverAsksForIsNoErrorOfItsOwn() {
    assertThat(XidKind.of(154)).isEqualTo(XidKind.RECOVERY);
  }

  @Test
  void anErrorThatNobodyKnowsCountsAgainstTheCard() {
    assertThat(XidKind.of(9_999)).isEqualTo(XidKind.CARD);
  }

  @Test
  void whatIsToBeDoneDependsOnTheError() {
    assertThat(new XidEvent("GPU-1", 79).mend()).contains("start the machine anew");
    assertThat(new XidEvent("GPU-1", 95).mend()).contains("--gpu-reset");
    assertThat(new XidEvent("GPU-1", 145).mend()).contains("nvlink");
  }

  @Test
  void anErrorIsKnownAgainByItsReason() {
    XidEvent event = new XidEvent("GPU-1", 95);
    assertThat(XidEvent.ofReason("GPU-1", event.reason())).contains(event);
    for (String other : new String[]{"GpuIsLost", "XID", "XID ", "XID x", "95", "XID 99999999999999999999"}) {
      assertThat(XidEvent.ofReason("GPU-1", other)).as(other).isEmpty();
    }
  }
}
