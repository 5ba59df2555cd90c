package dev.partita.e2e.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** What became of the three claims of a {@link FaultScene}, fault by fault, to be printed. */
public final class FaultTable {
  private static final String ROW = "%-26s %-31s %-9s %s";

  private final List<String> rows = Collections.synchronizedList(new ArrayList<>());

  /** Has the fault strike a lab's broken node, and keeps what came of it. */
  public void strike(FaultScene.Fault fault, RealCluster cluster, Workspace workspace) {
    Assumptions.assumeTrue(cluster.lab().isPresent(), "Kubernetes' own daemons can be killed on a lab only");
    FaultScene scene = new FaultScene(cluster, workspace, cluster.brokenNode());
    try {
      scene.survives(fault);
      add(fault, "yes", "nothing");
    } catch (RuntimeException | AssertionError failure) {
      add(fault, "NO", String.valueOf(failure.getMessage()).lines().findFirst().orElse(""));
      throw failure;
    }
  }

  private void add(FaultScene.Fault fault, String survived, String leaked) {
    rows.add(ROW.formatted(fault, "prepared, preparing, releasing", survived, leaked));
  }

  public void print() {
    System.out.println(ROW.formatted("fault", "step of three claims", "survived", "leaked"));
    rows.forEach(System.out::println);
  }
}
