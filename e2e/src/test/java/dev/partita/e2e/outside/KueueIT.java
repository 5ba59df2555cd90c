package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Kueue, with the objects of the page that says how to use it. */
@OnRealCluster
@Isolated
class KueueIT {
  private static final Map<String, String> SHARE = Map.of("resourceClaimTemplateName", "share-of-32");

  @TempDir Path folder;

  @Test
  void jobsWaitForTheirQueuesMemoryAndArePreemptedForUrgentOnesWhoseShareIsFreeThen(
      RealCluster cluster,
      Workspace workspace) {
    try (Kueue kueue = Kueue.install(cluster, workspace, folder)) {
      kueue.applyPage();
      kueue.job("first", SHARE, "");
      PodUnderTest first = kueue.podOf("first").awaitRunning();
      assertThat(kueue.counted("first")).isEqualTo(Map.of("cpu", "10m", "memory", "16Mi", "gpu-memory", "32Gi"));
      String uid = first.claim().uid();

      kueue.job("second", SHARE, "");
      kueue.awaitWaiting("second", "insufficient unused quota for gpu-memory in flavor partita, 24Gi more needed");
      assertThat(kueue.isSuspended("second")).isTrue();
      assertThat(workspace.claims()).as("the first job's").extracting(ResourceClaim::getMetadata)
          .extracting(metadata -> metadata.getUid()).containsExactly(uid);

      kueue.job("urgent", SHARE, "urgent");
      PodUnderTest urgent = kueue.podOf("urgent").awaitRunning();
      first.awaitGone();
      await("the share of the job that made room").atMost(Workspace.PATIENCE)
          .until(() -> workspace.claims().size() == 1);
      assertThat(kueue.isSuspended("first")).isTrue();
      assertThat(urgent.exec("partita-probe info")).contains("total=" + (32L << 30));

      urgent.exec("touch /tmp/end");
      kueue.awaitSucceeded("urgent");
      kueue.podOf("first").awaitRunning().exec("touch /tmp/end");
      kueue.awaitSucceeded("first");
      kueue.podOf("second").awaitRunning().exec("touch /tmp/end");
      kueue.awaitSucceeded("second");
    }
  }

  @Test
  void itCountsTheMemoryOfEveryCardAndOfAWholeOneAndSaysWhatItCannotCount(RealCluster cluster, Workspace workspace) {
    try (Kueue kueue = Kueue.install(cluster, workspace, folder)) {
      kueue.applyPage();
      template(workspace, "two",
          "exactly: {deviceClassName: h200.gpu.partita.dev, count: 2, capacity: {requests: {memory: 4Gi}}}");
      kueue.job("two", Map.of("resourceClaimTemplateName", "two"), "");
      kueue.podOf("two").awaitRunning();
      assertThat(kueue.counted("two")).containsEntry("gpu-memory", "8Gi");

      template(workspace, "whole", "exactly: {deviceClassName: whole.gpu.partita.dev}");
      kueue.job("whole", Map.of("resourceClaimTemplateName", "whole"), "");
      kueue.awaitWaiting("whole",
          "current podset request (" + (RealCluster.CARD_MEMORY >> 20) + "Mi) > maximum capacity (40Gi)");

      template(workspace, "any", "exactly: {deviceClassName: gpu.partita.dev}");
      kueue.job("any", Map.of("resourceClaimTemplateName", "any"), "");
      kueue.awaitWaiting("any", "current podset request ("
          + ((RealCluster.CARD_MEMORY - RealCluster.CARD_RESERVED) >> 20) + "Mi) > maximum capacity (40Gi)");

      template(workspace, "either",
          "firstAvailable: [{name: small, deviceClassName: gpu.partita.dev, capacity: {requests: {memory: 1Gi}}}]");
      kueue.job("either", Map.of("resourceClaimTemplateName", "either"), "");
      kueue.awaitWaiting("either", "FirstAvailable device selection is not supported");

      template(workspace, "instance", "exactly: {deviceClassName: mig.gpu.partita.dev}");
      kueue.job("instance", Map.of("resourceClaimTemplateName", "instance"), "");
      kueue.awaitWaiting("instance", "DeviceClass mig.gpu.partita.dev is not mapped");

      workspace.claimOfSpec("by-name",
          "{devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, capacity: {requests: {memory: 1Gi}}}}]}}");
      kueue.job("by-name", Map.of("resourceClaimName", "by-name"), "");
      kueue.awaitWaiting("by-name", "does not support use of resource claims");

      assertThat(List.of("whole", "any", "either", "instance", "by-name")).allMatch(kueue::isSuspended);
    }
  }

  private static void template(Workspace workspace, String name, String request) {
    workspace.create(
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: %s}, spec: {spec: {devices: {requests: [{name: gpu, %s}]}}}}"
            .formatted(name, request));
  }
}
