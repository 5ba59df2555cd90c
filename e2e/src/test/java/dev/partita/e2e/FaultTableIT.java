package dev.partita.e2e;

import dev.partita.e2e.cluster.FaultScene.Fault;
import dev.partita.e2e.cluster.FaultTable;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each fault of a cluster strikes while one pod holds a share, another one's is being prepared, and a third one's is
 * being released: the first keeps what it has, the second gets what it asked for, of the third nothing stays. What
 * became of each is printed as a table. Faults that leave the rest of the cluster alone are in
 * {@link NodeFaultTableIT}, those of the plugin alone, at every step of a claim, in kubelet-plugin.
 */
@OnRealCluster
@Isolated("it kills daemons that every other test needs")
class FaultTableIT {
  private static final FaultTable TABLE = new FaultTable();

  @ParameterizedTest
  @EnumSource(
      names = {"CONTROLLERS_KILLED", "API_SERVER_KILLED", "ETCD_KILLED", "SCHEDULER_KILLED",
        "CONTROLLER_MANAGER_KILLED"})
  void whatIsHeldStaysWhatIsAskedForComesAndWhatIsReleasedGoes(Fault fault, RealCluster cluster, Workspace workspace) {
    TABLE.strike(fault, cluster, workspace);
  }

  @AfterAll
  static void print() {
    TABLE.print();
  }
}
