package dev.partita.plugin.usage.excess;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.verdict.ProcessUse;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepeatOffendersTest {
  private final RepeatOffenders suspects = new RepeatOffenders();

  @Test
  void aProcessThatIsBlamedForTheFirstTimeIsSparedHoweverLongOthersHaveBeen() {
    assertThat(take(process(1, 1))).isEmpty();
    assertThat(take(process(1, 1))).isEmpty();
    assertThat(take(process(1, 1), process(2, 5))).containsExactly(process(1, 1));
    assertThat(take(process(2, 5))).isEmpty();
    assertThat(take(process(2, 5))).containsExactly(process(2, 5));
  }

  @Test
  void aPidThatWasUsedAgainIsAnotherProcess() {
    take(process(1, 1));
    take(process(1, 1));
    assertThat(take(process(1, 9))).isEmpty();
  }

  @Test
  void whatAProcessWasBlamedForBeforeAReadingWithoutBlameIsForgotten() {
    take(process(1, 1));
    take(process(1, 1));
    take();
    assertThat(take(process(1, 1))).isEmpty();
  }

  private List<ProcessUse> take(ProcessUse... blamed) {
    return suspects.take(List.of(blamed));
  }

  private static ProcessUse process(long pid, long start) {
    return new ProcessUse(new ProcessIdentity(pid, start), 2L << 30, 0, 0, 0, 0, false, 0);
  }
}
