package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.controller.ClusterWithoutServer;
import dev.partita.controller.inventory.CardKey;

import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import org.junit.jupiter.api.Test;

class BindingReviewTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ObjectKey POD = ClusterWithoutServer.key("team/trainer");

  private final ClusterWithoutServer cluster = new ClusterWithoutServer();
  private final BindingReview review = new BindingReview(cluster);

  @Test
  void aPodIsBoundToNoOtherNodeThanThatOfItsDevices() throws JsonProcessingException {
    Pod pod = cluster.waiting(POD, 0, "32Gi");
    cluster.put(ClusterWithoutServer.allocated(ClusterWithoutServer.claim(POD, "32Gi"), new CardKey("node-1", 0),
        "32Gi", List.of(pod)));
    assertThat(bound("trainer", "node-1")).isEqualTo(Verdict.allowed());
    assertThat(bound("trainer", "node-2")).isInstanceOfSatisfying(Verdict.Forbidden.class,
        forbidden -> assertThat(forbidden.why())
            .isEqualTo("a claim of the pod has devices of another node, and the pod cannot run on node node-2"));
  }

  @Test
  void aPodWhoseClaimHasNoDevicesYetAndOneThatIsNotKnownAreLetPast() throws JsonProcessingException {
    cluster.waiting(POD, 0, "32Gi");
    assertThat(bound("trainer", "node-2")).isEqualTo(Verdict.allowed());
    assertThat(bound("stranger", "node-2")).isEqualTo(Verdict.allowed());
  }

  private Verdict bound(String pod, String node) throws JsonProcessingException {
    return review.apply(new AdmissionRequest("1", "", "pods", "CREATE", "team", JSON.readTree("""
        {"kind": "Binding", "metadata": {"name": "%s"}, "target": {"kind": "Node", "name": "%s"}}
        """.formatted(pod, node)), JSON.missingNode()));
  }
}
