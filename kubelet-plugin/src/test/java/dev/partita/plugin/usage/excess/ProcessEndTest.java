package dev.partita.plugin.usage.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.EventReason;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

@MockApiServer(crud = true)
class ProcessEndTest {
  private static final ClaimRef CLAIM = new ClaimRef("default", "claim", "0b5e8a9e-0000-4000-8000-000000000001");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aProcessThatTakesTheSignalAndStaysIsToldOfOnce() throws IOException {
    Process parent = new ProcessBuilder("sh", "-c", "sleep 1000 & echo $!; exec sleep 1000").start();
    try (ClaimReports reports = new ClaimReports(client, ApiCalls.standard(), "node", Clock.systemUTC());
        BufferedReader said =
            new BufferedReader(new InputStreamReader(parent.getInputStream(), StandardCharsets.US_ASCII))) {
      long child = Long.parseLong(said.readLine());
      ProcessUse use = HostProcesses.SEEN.identity(child)
          .map(identity -> new ProcessUse(identity, 1, 0, 0, 0, 0, false, 0)).orElseThrow();
      ProcessEnd end = new ProcessEnd(HostProcesses.SEEN, reports);
      for (int i = 0; i < 3; i++) { // its parent does not wait for it, so it stays
        assertThat(end.kill(CLAIM, use, "it held too much")).isTrue();
      }
      reports.misused(CLAIM, EventReason.MpsDaemonEnded, "what was said before has been written");
      await().atMost(Duration.ofSeconds(20)).until(() -> events(EventReason.MpsDaemonEnded).size() == 1);
      assertThat(events(EventReason.ProcessKilled)).singleElement()
          .satisfies(event -> assertThat(event.getSeries()).as("it happened once").isNull());
    } finally {
      parent.descendants().forEach(ProcessHandle::destroyForcibly);
      parent.destroyForcibly();
    }
  }

  private List<Event> events(EventReason reason) {
    return client.events().v1().events().inNamespace("default").list().getItems().stream()
        .filter(event -> reason.name().equals(event.getReason())).toList();
  }
}
