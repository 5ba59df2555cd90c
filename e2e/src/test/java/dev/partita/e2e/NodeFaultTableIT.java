package dev.partita.e2e;

import dev.partita.e2e.cluster.FaultScene.Fault;
import dev.partita.e2e.cluster.FaultTable;
import dev.partita.e2e.cluster.OnBrokenNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** As {@link FaultTableIT}, by faults of a node, which leave the rest of the cluster alone. */
@OnRealCluster
@OnBrokenNode
class NodeFaultTableIT {
  private static final FaultTable TABLE = new FaultTable();

  @ParameterizedTest
  @EnumSource(
      names = {"PLUGIN_KILLED", "KUBELET_KILLED", "CONTAINERD_KILLED", "CDI_FOLDER_WIPED", "POD_DELETED_BY_FORCE"})
  void whatIsHeldStaysWhatIsAskedForComesAndWhatIsReleasedGoes(Fault fault, RealCluster cluster, Workspace workspace) {
    TABLE.strike(fault, cluster, workspace);
  }

  @AfterAll
  static void print() {
    TABLE.print();
  }
}
