package dev.partita.cli.cordon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.cli.command.CommandRun;
import dev.partita.cli.command.PaperCluster;
import dev.partita.controller.fleet.PaperFleet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CordonCommandTest {
  private static PaperCluster cluster;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    cluster = new PaperCluster(folder);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static String node(String name, GpuNodeSpec spec) {
    cluster.add(PaperFleet.node(name, spec, List.of(PaperFleet.card(name, 0), PaperFleet.card(name, 1))));
    return name;
  }

  private static GpuNodeSpec spec(String node) {
    return cluster.client().resources(GpuNode.class).withName(node).require().getSpec();
  }

  private static String out(String... arguments) {
    CommandRun run = cluster.run(arguments);
    assertThat(run.status()).as(run.err()).isZero();
    return run.out();
  }

  @Test
  void aCardIsNamedByItsPlaceOrItsUuidAndTheRestOfTheSpecStays() {
    GpuNodeSpec before =
        new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler, List.of(GpuNodeSpec.PublishedMode.Shared), null, 150,
            List.of("GPU-display"));
    String node = node("kept", before);
    assertThat(out("cordon", "gpu", "kept/1", "GPU-kept-0"))
        .isEqualTo("gpu kept/gpu-1 cordoned\ngpu kept/gpu-0 cordoned\n");
    assertThat(spec(node).cordoned()).containsExactly("GPU-kept-1", "GPU-kept-0");
    assertThat(spec(node).withhold()).isEqualTo(before.withhold());
    assertThat(spec(node).memoryPercent()).isEqualTo(150);
    assertThat(spec(node).allocator()).isEqualTo(before.allocator());
    assertThat(out("cordon", "gpu", "kept/gpu-1")).isEqualTo("gpu kept/gpu-1 already cordoned\n");
    assertThat(out("uncordon", "gpu", "kept/0", "kept/1")).contains("gpu kept/gpu-0 uncordoned");
    assertThat(spec(node)).isEqualTo(before);
    assertThat(out("uncordon", "gpu", "kept/0")).isEqualTo("gpu kept/gpu-0 already uncordoned\n");
  }

  @Test
  void aCordonedCardIsShownAsSuchAndNothingOfItIsFree() {
    node("shown", GpuNodeSpec.DEFAULT);
    out("cordon", "gpu", "shown/0");
    assertThat(out("top", "gpus", "--node", "shown")).containsPattern("gpu-0 +h200 +Cordoned +140GiB +0B +- +0B");
  }

  @Test
  void aCardThatTheNodeDoesNotHaveAnyMoreCanBeUncordoned() {
    String node = node("lost", new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null, List.of(),
        List.of("GPU-gone", "OPAQUE-gone"), List.of(), null));
    assertThat(out("uncordon", "gpu", "GPU-gone")).isEqualTo("gpu lost/GPU-gone uncordoned\n");
    assertThat(out("uncordon", "gpu", "OPAQUE-gone")).isEqualTo("gpu lost/OPAQUE-gone uncordoned\n");
    assertThat(spec(node).cordoned()).isEmpty();
  }

  @Test
  void aCardThatIsNotThereIsSaidSo() {
    node("small", GpuNodeSpec.DEFAULT);
    for (List<String> wrong : List.of(List.of("small/7", "node small has no card 7; it has 0, 1"),
        List.of("nobody/0", "there is no GpuNode nobody"), List.of("GPU-none", "no node has a card GPU-none"))) {
      CommandRun run = cluster.run("cordon", "gpu", wrong.getFirst());
      assertThat(run.status()).isEqualTo(1);
      assertThat(run.err()).isEqualTo("partita: " + wrong.getLast() + "\n");
    }
    assertThat(cluster.run("cordon", "gpu", "3").status()).isEqualTo(2);
    assertThat(cluster.run("cordon").status()).isEqualTo(2);
  }

  @Test
  void noMoreAreNamedThanTheGpuNodeTakes() {
    node("full", new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null, List.of(),
        java.util.stream.IntStream.range(0, GpuNodeSpec.MOST_CORDONED).mapToObj(i -> "GPU-old-" + i).toList(),
        List.of(), null));
    CommandRun run = cluster.run("cordon", "gpu", "full/0");
    assertThat(run.status()).isEqualTo(1);
    assertThat(run.err()).contains("uncordon those that it does not have any more");
  }
}
