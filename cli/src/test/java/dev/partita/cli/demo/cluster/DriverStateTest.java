package dev.partita.cli.demo.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DriverStateTest {
  @Test
  void readsWhatTheSimulatorReports() throws Exception {
    DriverState state =
        DriverState.parse(
            """
                {"node": "node-a", "driverVersion": "580.95.05", "gpus": [
                  {"index": 0, "uuid": "GPU-0", "model": "h200", "health": "ok",
                   "totalBytes": 100, "reservedBytes": 1, "usedBytes": 12,
                   "processes": [{"pid": 7, "memoryBytes": 10, "overheadBytes": 2, "contexts": 1, "launches": 0}]},
                  {"index": 1, "uuid": "GPU-1", "model": "h200", "health": "ok",
                   "totalBytes": 100, "reservedBytes": 1, "usedBytes": 0, "processes": []}
                ]}
                """);

    assertThat(state.cards().getFirst().usedBytes()).isEqualTo(12);
    assertThat(state.cards().getFirst().holdings()).containsExactly(10L);
    assertThat(state.isIdle()).isFalse();
    assertThat(new DriverState(state.cards().subList(1, 2)).isIdle()).isTrue();
  }
}
