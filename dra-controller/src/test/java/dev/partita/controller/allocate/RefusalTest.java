package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.GpuNodes;
import org.junit.jupiter.api.Test;

class RefusalTest {
  private static final long GIB = GpuNodes.GIB;

  private final SmallCluster cluster = new SmallCluster();

  @Test
  void reasonsAreFoldedAndSpeakOfModelsAndMemory() {
    cluster.nodes.add(GpuNodes.ready("node-0", 4, "NVIDIA H200", 100 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 4, "NVIDIA A100", 80 * GIB));
    for (int i = 0; i < 4; i++) {
      cluster.take("a" + i, "node-0", i, 94 * GIB, 0);
    }
    assertThat(cluster.refusal(Requests.claim("x", Requests.share("gpu", "h200", 8 * GIB))))
        .isEqualTo(
            "0 of 8 cards fit: 4 cards on node-0: 6 GiB free of 8 GiB asked; 4 cards on node-1: model is a100, asked h200");
  }

  @Test
  void whatNoCardCanEverGiveIsSaidFirst() {
    cluster.nodes.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 2, "NVIDIA A100", 80 * GIB));
    assertThat(cluster.refusal(Requests.claim("x", Requests.share("gpu", 1, 200 * GIB, 0))))
        .startsWith("asks 200 GiB; the largest a100 has 80 GiB, the largest h200 has 140 GiB; 0 of 4 cards fit");
    assertThat(cluster.refusal(Requests.claim("x", Requests.share("gpu", 1, GIB, 150))))
        .startsWith("asks 150 % cores; a card has 100 %; 0 of 4 cards fit");
  }

  @Test
  void withoutAnyNodeItSaysSo() {
    assertThat(cluster.refusal(Requests.claim("x", Requests.whole("gpu", 1))))
        .isEqualTo("no node reports GPUs (no GpuNode)");
  }

  @Test
  void aLongExplanationKeepsToItsLength() {
    for (int i = 0; i < 200; i++) {
      cluster.nodes.add(GpuNodes.ready("node-" + i, 1, "NVIDIA H200", 100 * GIB));
      cluster.take("a" + i, "node-" + i, 0, (90L << 30) + ((long) i << 27), 0);
    }
    Outcome.Unallocatable outcome =
        (Outcome.Unallocatable) cluster.allocate(Requests.claim("x", Requests.share("gpu", 1, 50 * GIB, 0)));
    assertThat(outcome.explanation().summary(300)).hasSizeLessThanOrEqualTo(300).contains("more reasons");
  }

  @Test
  void sixteenOfFifteenIsNoSearch() {
    cluster.nodes.add(GpuNodes.ready("node-0", 16, "NVIDIA H200", 100 * GIB));
    cluster.take("a", "node-0", 0, GIB, 0);
    long start = System.nanoTime();
    assertThat(cluster.refusal(Requests.claim("x", Requests.whole("gpu", 16)))).contains("16 wanted on one node");
    assertThat(System.nanoTime() - start).isLessThan(2_000_000_000L);
  }
}
