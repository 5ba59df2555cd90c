package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.PartitaCommand;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Cluster Autoscaler's own reckoning about a node of a lab, of which nothing runs in the lab.
 *
 * @param workspace whose pods run on the node
 * @param program that reckons
 * @param file to give it what it reckons with
 */
record ClusterAutoscaler(RealCluster cluster, Workspace workspace, Path program, Path file) {
  /** What it says of a pod that a new node has room for. */
  static final String FITS = "fits";

  /**
   * What it says.
   *
   * @param utilization of the node, for its removal
   * @param questions what it says of each pod of each question
   */
  record Answers(
      @JsonProperty("utilization") double utilization,
      @JsonProperty("questions") Map<String, List<String>> questions) {}

  static ClusterAutoscaler of(RealCluster cluster, Workspace workspace, Path folder) {
    Path program = Installation.fetched(cluster, "cluster-autoscaler", "would-fit").resolve("would-fit");
    return new ClusterAutoscaler(cluster, workspace, program, folder.resolve("given.json"));
  }

  /**
   * Has it reckon.
   *
   * @param slices of the node
   * @param questions what the pods of a question ask for; they are placed one after the other on one new node
   */
  Answers reckon(String node, List<ResourceSlice> slices, Map<String, List<Ask>> questions) {
    KubernetesClient client = cluster.client();
    Map<String, Object> asked = new TreeMap<>();
    questions.forEach((name, asks) -> asked.put(name, question(asks)));
    try {
      Files.writeString(file,
          client.getKubernetesSerialization()
              .asJson(Map.of("node", client.nodes().withName(node).require(), "slices", slices, "classes",
                  client.resources(DeviceClass.class).list().getItems(), "pods",
                  client.pods().inNamespace(workspace.namespace()).list().getItems(), "claims", workspace.claims(),
                  "questions", asked)));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    PartitaCommand.Outcome outcome =
        cluster.command().execute(List.of(program.toString(), file.toString()), Map.of());
    assertThat(outcome.status()).as(outcome.err()).isZero();
    return client.getKubernetesSerialization().unmarshal(outcome.out(), Answers.class);
  }

  private Map<String, Object> question(List<Ask> asks) {
    List<HasMetadata> claims = new ArrayList<>();
    List<Pod> pods = new ArrayList<>();
    for (Ask ask : asks) {
      String name = "asked-" + pods.size();
      claims.add(workspace.dryRun(name, ask));
      pods.add(new PodBuilder().withNewMetadata().withNamespace(workspace.namespace()).withName(name).endMetadata()
          .withNewSpec().addNewContainer().withName("main").withImage(RealCluster.PROBE_IMAGE).endContainer()
          .addNewResourceClaim().withName("gpu").withResourceClaimName(name).endResourceClaim().endSpec().build());
    }
    return Map.of("pods", pods, "claims", claims);
  }
}
