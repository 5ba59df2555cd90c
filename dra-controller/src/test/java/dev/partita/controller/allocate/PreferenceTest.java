package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.place.Alternatives;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.PodNeeds;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two nodes of eight cards, of which pairs are linked and four are on a NUMA node; of the first one two cards are free
 * that have neither in common.
 */
class PreferenceTest {
  private static final long GIB = GpuNodes.GIB;
  private static final String LINK = DeviceAttribute.NVLINK_DOMAIN.key();
  private static final String NUMA = DeviceAttribute.NUMA_NODE.key();

  private final SmallCluster cluster = new SmallCluster();

  @BeforeEach
  void nodes() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 8, "NVIDIA H200", 100 * GIB));
    leave("node-0", 1, 6);
  }

  private void leave(String node, Integer... free) {
    for (int card = 0; card < 8; card++) {
      if (!List.of(free).contains(card)) {
        cluster.takeWhole(node + "-" + card, node, card);
      }
    }
  }

  @Test
  void whatThePodPrefersChoosesTheNodeAndNothingSaidPacksIt() {
    ClaimRequest two = Requests.claim("two", Requests.whole("gpu", 2));
    assertThat(cluster.placed(two)).containsExactly("gpu-1 on node-0", "gpu-6 on node-0");
    assertThat(cluster.placed(Requests.preferring(two, LINK))).containsExactly("gpu-0 on node-1", "gpu-1 on node-1");
    assertThat(cluster.placed(Requests.preferring(two, NUMA))).containsExactly("gpu-0 on node-1", "gpu-1 on node-1");
  }

  @Test
  void itChoosesTheNodeAlsoWhereTheForecastWouldAndAmongShares() {
    PodNeeds needs = new PodNeeds(1_000, GIB);
    ClaimRequest two = Requests.preferring(Requests.claim("two", Requests.whole("gpu", 2)), LINK);
    assertThat(cluster.expecting(needs, two)).allMatch(device -> device.endsWith("node-1"));
    ClaimRequest shares = Requests.preferring(Requests.claim("shares", Requests.share("gpu", 2, GIB, 10)), LINK);
    assertThat(cluster.placed(shares)).containsExactly("gpu-0-shared on node-1", "gpu-1-shared on node-1");
  }

  @Test
  void itIsGivenUpWhereNoNodeHasIt() {
    leave("node-1", 0, 5);
    assertThat(cluster.placed(Requests.preferring(Requests.claim("two", Requests.whole("gpu", 2)), LINK, NUMA)))
        .hasSize(2);
    assertThat(cluster.placed(Requests.preferring(Requests.claim("six", Requests.share("gpu", 2, GIB, 0)), LINK)))
        .hasSize(2);
  }

  @Test
  void whatMattersMostIsGivenUpLast() {
    ClaimRequest four = Requests.preferring(Requests.claim("four", Requests.whole("gpu", 4)), LINK, NUMA);
    assertThat(cluster.placed(four)).as("no link is that wide: one NUMA node")
        .containsExactlyInAnyOrder("gpu-0 on node-1", "gpu-1 on node-1", "gpu-2 on node-1", "gpu-3 on node-1");
    assertThat(Alternatives.of(List.of(four)))
        .extracting(choice -> choice.claims().getFirst().constraints().stream().map(Constraint::attribute).toList())
        .containsExactly(List.of(LINK, NUMA), List.of(LINK), List.of(NUMA), List.of());
  }

  @Test
  void anAlternativeThatIsWantedFirstGoesBeforeAPreference() {
    NamedRequest either = new NamedRequest("gpu", List.of(Requests.whole("gpu/four", 4), Requests.whole("gpu/two", 2)));
    ClaimRequest claim = new ClaimRequest(new ClaimRef("default", "c", "uid"), List.of(either), List.of(),
        List.of(new Constraint.Equal(LINK, List.of("gpu"))));
    assertThat(cluster.placed(claim)).as("four cards without a link rather than two with one").hasSize(4);
  }
}
