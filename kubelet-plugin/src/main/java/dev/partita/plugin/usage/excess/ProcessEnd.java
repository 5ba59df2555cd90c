package dev.partita.plugin.usage.excess;

import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.EventReason;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.verdict.ProcessUse;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Kills processes of claims that hold memory of others, and tells the claims. For any thread. */
public final class ProcessEnd {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessEnd.class);
  private static final int MOST_TOLD = 256;

  private final HostProcesses host;
  private final ClaimReports reports;
  private final Set<Long> cannotBeKilled = ConcurrentHashMap.newKeySet();
  private final Set<ProcessIdentity> told = ConcurrentHashMap.newKeySet();

  public ProcessEnd(HostProcesses host, ClaimReports reports) {
    this.host = host;
    this.reports = reports;
  }

  /**
   * Kills it. A pid that was used again since the reading belongs to another process, which started at another time.
   *
   * @param why as a clause about the process: {@code it held more than the claim allows}
   * @return whether it was killed now, maybe not for the first time
   */
  public boolean kill(ClaimRef claim, ProcessUse process, String why) {
    boolean same = host.identity(process.pid()).equals(Optional.of(process.identity()));
    if (!same) {
      return false;
    }
    boolean ended = ProcessHandle.of(process.pid()).map(ProcessHandle::destroyForcibly).orElse(false);
    if (ended && isNew(process.identity())) {
      LOG.warn("claim {}: process {} was killed: {}", claim, process.pid(), why);
      reports.misused(claim, EventReason.ProcessKilled,
          "process " + process.pid() + " (pid on the node) was killed: " + why);
    } else if (!ended && cannotBeKilled.add(process.pid())) {
      LOG.error("claim {}: process {} cannot be killed, though {}: the plugin needs the capability KILL", claim,
          process.pid(), why);
    }
    return ended;
  }

  /** Whether it was not told of before. One that is stuck in the driver takes the signal, and does not end for long. */
  private boolean isNew(ProcessIdentity process) {
    if (told.size() >= MOST_TOLD) {
      told.clear();
    }
    return told.add(process);
  }
}
