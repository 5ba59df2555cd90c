package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Lab;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
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
    int failedBefore = webhooksThatFailed(cluster).size();
    try (ExecutorService users = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<List<Miss>>> missed =
          Stream.generate(() -> users.submit(() -> missed(workspace, gone))).limit(USERS).toList();
      controllers.replaceAll();
      try {
        await("the former controller to be gone").atMost(Workspace.PATIENCE)
            .until(() -> cluster.client().pods().resource(former).get() == null);
      } finally {
        gone.set(true);
      }
      List<Miss> all = new ArrayList<>();
      for (Future<List<Miss>> each : missed) {
        all.addAll(each.get());
      }
      assertThat(all).as(() -> "pods that got no claim; of webhooks the API server says "
          + webhooksThatFailed(cluster).stream().skip(failedBefore).collect(Collectors.joining("\n", "\n", "\n")))
          .isEmpty();
    }
    controllers.awaitAnotherLeader(former);
  }

  /** A pod that was made at that time without a claim, and how long that took. */
  private record Miss(Instant at, Duration took) {}

  /** Makes pods, on trial, a few every second until then. */
  private static List<Miss> missed(Workspace workspace, AtomicBoolean until) {
    List<Miss> missed = new ArrayList<>();
    await("the end")
        .forever()
        .pollInterval(Duration.ofMillis(100))
        .until(
            () -> {
              Instant begin = Instant.now();
              if (!workspace.admissionConverts()) {
                missed.add(new Miss(begin, Duration.between(begin, Instant.now())));
              }
              return until.get();
            });
    return missed;
  }

  private static List<String> webhooksThatFailed(RealCluster cluster) {
    return cluster.lab().map(Lab::webhooksThatFailed).orElse(List.of());
  }
}
