package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Controllers that come and go, as API servers and users see it. */
@OnRealCluster
@ChangesControllers
class ControllerRolloutIT {
  /** So many connections do API servers have with webhooks. */
  private static final int USERS = 4;

  @Test
  void noPodThatIsMadeWhileControllersAreReplacedMissesItsConversion(RealCluster cluster, Workspace workspace)
      throws Exception {
    workspace.awaitAdmission();
    Controllers controllers = new Controllers(cluster);
    Pod former = controllers.awaitLeader();
    AtomicBoolean gone = new AtomicBoolean();
    try (ExecutorService users = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> missed =
          Stream.generate(() -> users.submit(() -> missed(workspace, gone))).limit(USERS).toList();
      controllers.replaceAll();
      try {
        await("the former controller to be gone").atMost(Workspace.PATIENCE)
            .until(() -> cluster.client().pods().resource(former).get() == null);
      } finally {
        gone.set(true);
      }
      for (Future<Integer> each : missed) {
        assertThat(each.get()).as("pods of a user that got no claim").isZero();
      }
    }
    controllers.awaitAnotherLeader(former);
  }

  /** Makes pods, on trial, a few every second until then. */
  private static int missed(Workspace workspace, AtomicBoolean until) {
    AtomicInteger missed = new AtomicInteger();
    await("the end")
        .forever()
        .pollInterval(Duration.ofMillis(100))
        .until(
            () -> {
              missed.addAndGet(workspace.admissionConverts() ? 0 : 1);
              return until.get();
            });
    return missed.get();
  }
}
