package dev.partita.plugin.usage.excess;

import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.EventReason;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does what was asked for to processes of a share that hold more than they may. */
public final class ExcessAction {
  private static final Logger LOG = LoggerFactory.getLogger(ExcessAction.class);

  private final OnExcess policy;
  private final HostProcesses host;
  private final ClaimReports reports;
  private final RepeatOffenders suspects = new RepeatOffenders();
  private final Set<Long> cannotBeKilled = new HashSet<>();

  public ExcessAction(OnExcess policy, HostProcesses host, ClaimReports reports) {
    this.policy = policy;
    this.host = host;
    this.reports = reports;
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
      case KILL -> lasting.blamed().stream().filter(blamed::contains).forEach(process -> kill(use, process));
    }
  }

  /** A pid that was used again since the reading belongs to another process, which started at another time. */
  private void kill(ShareUse use, ProcessUse process) {
    boolean same = host.identity(process.pid()).equals(Optional.of(process.identity()));
    if (!same) {
      return;
    }
    boolean ended = ProcessHandle.of(process.pid()).map(ProcessHandle::destroyForcibly).orElse(false);
    if (ended) {
      LOG.warn("claim {}: process {} holds more than it may: killed", use.share().claim(), process.pid());
      reports.misused(
          use.share().claim(), EventReason.ProcessKilled,
          "process " + process.pid() + " (pid on the node) was killed: it held more than the claim allows");
    } else if (cannotBeKilled.add(process.pid())) {
      LOG.error(
          "claim {}: process {} holds more than it may and cannot be killed: the plugin needs the capability KILL",
          use.share().claim(), process.pid());
    }
  }
}
