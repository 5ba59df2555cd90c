package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.GpuNodes;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Pods with more combinations of {@code firstAvailable} alternatives than are tried one by one. */
class ManyAlternativesTest {
  private static final long GIB = GpuNodes.GIB;

  private final SmallCluster cluster = new SmallCluster();

  /** Each of a pod's containers has a claim of its own, made from one template. */
  @Test
  void claimsThatAreAlikeGetTheirSecondAlternativeAllTogether() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    assertThat(cluster.placed(IntStream.range(0, 8).mapToObj(i -> claim("c" + i, eitherModel("gpu", 1)))
        .toArray(ClaimRequest[]::new))).hasSize(8);
  }

  @Test
  void requestsThatDifferGetTheirSecondAlternativeAllTogether() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    NamedRequest[] requests =
        IntStream.range(0, 8).mapToObj(i -> eitherModel("r" + i, i + 1)).toArray(NamedRequest[]::new);
    assertThat(cluster.placed(claim("c", requests))).hasSize(8);
  }

  /** Five of eight pairs of cards are left: as many requests as can get a pair, the others one card. */
  @Test
  void ofRequestsThatAreAlikeAsManyAsPossibleGetTheirFirstAlternativeAndTheFirstOnesDo() {
    cluster.nodes.add(GpuNodes.ready("node-0", 13, "NVIDIA H200", 100 * GIB));
    NamedRequest[] requests = IntStream.range(0, 8)
        .mapToObj(i -> new NamedRequest("r" + i, List.<DeviceRequest>of(Requests.whole("r" + i + "/two", 2),
            Requests.whole("r" + i + "/one", 1))))
        .toArray(NamedRequest[]::new);
    assertThat(cluster.allocate(claim("c", requests))).isInstanceOfSatisfying(Outcome.Allocated.class,
        allocated -> assertThat(allocated.claims().getFirst().devices())
            .extracting(device -> device.request().name()).containsExactly("r0/two", "r0/two", "r1/two", "r1/two",
                "r2/two", "r2/two", "r3/two", "r3/two", "r4/two", "r4/two", "r5/one", "r6/one", "r7/one"));
  }

  private static NamedRequest eitherModel(String name, int gib) {
    return new NamedRequest(name, List.<DeviceRequest>of(Requests.share(name + "/a", "b200", gib * GIB),
        Requests.share(name + "/b", "h200", gib * GIB)));
  }

  private static ClaimRequest claim(String name, NamedRequest... requests) {
    return new ClaimRequest(new ClaimRef("default", name, "uid-" + name), List.of(requests), List.of());
  }
}
