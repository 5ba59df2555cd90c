package dev.partita.plugin.usage.excess;

import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.util.List;

/** Does what was asked for to processes of a share that hold more than they may. */
public final class ExcessAction {
  private final OnExcess policy;
  private final ProcessEnd end;
  private final RepeatOffenders suspects = new RepeatOffenders();

  public ExcessAction(OnExcess policy, HostProcesses host, ClaimReports reports) {
    this.policy = policy;
    this.end = new ProcessEnd(host, reports);
  }

  /**
   * Acts on the share's last reading.
   *
   * @param lasting the state that has lasted: who is not blamed in both is left alone
   */
  public void against(ShareUse use, MemoryState lasting) {
    List<ProcessUse> blamed = suspects.take(use.memory().blamed());
    switch (policy) {
      case REPORT -> {}
      case KILL -> lasting.blamed().stream().filter(blamed::contains)
          .forEach(process -> end.kill(use.share().claim(), process, "it held more than the claim allows"));
    }
  }
}
