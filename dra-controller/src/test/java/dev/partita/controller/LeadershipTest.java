package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.ControllerSettings.Election;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LeadershipTest {
  private static final Election QUICK =
      new Election("default", "lease", Duration.ofSeconds(3), Duration.ofSeconds(2), Duration.ofMillis(200));

  @Test
  void oneOfTwoLeadsAndTheOtherTakesOverWhenItStops() throws IOException {
    try (Cluster cluster = Cluster.empty()) {
      DraController second;
      try (DraController first = start(cluster, "first")) {
        eventually().until(first::leads);
        second = start(cluster, "second");
        cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", GpuNodes.GIB));
        eventually().until(() -> cluster.slices().size() == 1);
        assertThat(second.leads()).isFalse();
      }
      try (second) {
        eventually().until(second::leads);
        cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", GpuNodes.GIB));
        eventually().until(() -> cluster.slices().size() == 2);
      }
    }
  }

  @Test
  void aStandbyIsHealthyAndReady() throws IOException {
    try (Cluster cluster = Cluster.empty();
        DraController first = start(cluster, "first")) {
      eventually().until(first::leads);
      ControllerSettings settings = new ControllerSettings("second", Optional.of(QUICK), Optional.of(0),
          Optional.empty(), Optional.empty(), ControllerSettings.DEFAULT_TEMPLATE_GRACE, Optional.empty(),
          Optional.empty(), false, 0);
      try (DraController second = DraController.start(settings, cluster.controllersClient())) {
        int port = second.healthPort().orElseThrow();
        assertThat(status(port, "/healthz")).isEqualTo(200);
        eventually().until(() -> status(port, "/readyz") == 200);
      }
    }
  }

  private static DraController start(Cluster cluster, String identity) throws IOException {
    return DraController.start(
        new ControllerSettings(identity, Optional.of(QUICK), Optional.empty(), Optional.empty(), Optional.empty(),
            ControllerSettings.DEFAULT_TEMPLATE_GRACE, Optional.empty(), Optional.empty(), false, 0),
        cluster.controllersClient());
  }

  private static int status(int port, String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
    try {
      return connection.getResponseCode();
    } finally {
      connection.disconnect();
    }
  }
}
