package dev.partita.controller.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeFitTest {
  private static final Node NODE =
      node(
          """
              metadata: {name: node-0, labels: {zone: a, cpus: "64"}}
              spec: {taints: [{key: gpu, value: "yes", effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]}
              status: {allocatable: {cpu: "4", memory: 8Gi, pods: "2"}}
              """);
  private static final String TOLERANT = "tolerations: [{key: gpu, operator: Exists}]";

  @Test
  void aTaintNeedsAToleration() {
    assertThat(refusal("{}")).contains("the node has the taint gpu=yes:NoSchedule");
    assertThat(refusal(TOLERANT)).isEmpty();
    assertThat(refusal("tolerations: [{operator: Exists}]")).isEmpty();
    assertThat(refusal("tolerations: [{key: gpu, value: \"yes\", effect: NoSchedule}]")).isEmpty();
    assertThat(refusal("tolerations: [{key: gpu, value: \"no\"}]")).isPresent();
    assertThat(refusal("tolerations: [{key: gpu, operator: Exists, effect: NoExecute}]")).isPresent();
    assertThat(refusal("tolerations: [{key: gpu, operator: Gt, value: \"1\"}]")).isPresent();
  }

  @Test
  void aTaintIsToleratedByItsNumber() {
    Node slow = node("metadata: {name: node-0}\nspec: {taints: [{key: latency, value: \"95\", effect: NoSchedule}]}");
    Map.of("Lt, value: \"100\"", true, "Lt, value: \"95\"", false, "Gt, value: \"-1\"", true, "Gt, value: \"95\"",
        false,
        "Gt, value: none", false)
        .forEach((operator, tolerated) -> assertThat(
            NodeFit.refusal(pod("tolerations: [{key: latency, operator: " + operator + "}]"), slow, Load.NONE)
                .isEmpty())
            .as(operator).isEqualTo(tolerated));
  }

  @Test
  void aCordonedNodeIsOut() {
    Node cordoned = node("metadata: {name: node-0}\nspec: {unschedulable: true}");
    assertThat(NodeFit.refusal(pod("{}"), cordoned, Load.NONE)).contains("the node is cordoned");
    assertThat(NodeFit.refusal(pod("tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]"),
        cordoned, Load.NONE)).isEmpty();
  }

  @Test
  void theSelectorAndTheRequiredAffinityMustMatch() {
    assertThat(refusal("nodeSelector: {zone: b}\n" + TOLERANT)).contains("the pod's nodeSelector does not match");
    assertThat(refusal("nodeSelector: {zone: a}\n" + TOLERANT)).isEmpty();
    assertThat(affinity("{key: zone, operator: In, values: [a, b]}")).isEmpty();
    assertThat(affinity("{key: zone, operator: NotIn, values: [a]}"))
        .contains("the pod's node affinity does not match");
    assertThat(affinity("{key: zone, operator: Exists}")).isEmpty();
    assertThat(affinity("{key: zone, operator: DoesNotExist}")).isPresent();
    assertThat(affinity("{key: cpus, operator: Gt, values: [\"32\"]}")).isEmpty();
    assertThat(affinity("{key: cpus, operator: Lt, values: [\"32\"]}")).isPresent();
    assertThat(affinity("{key: zone, operator: Gt, values: [\"32\"]}")).isPresent();
  }

  @Test
  void matchFieldsNameTheNode() {
    String terms =
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [%s]}]}]}}}\n";
    assertThat(refusal(terms.formatted("node-0") + TOLERANT)).isEmpty();
    assertThat(refusal(terms.formatted("node-1") + TOLERANT)).isPresent();
  }

  @Test
  void aBoundPodIsWhereItIs() {
    assertThat(refusal("nodeName: node-0")).isEmpty();
    assertThat(refusal("nodeName: node-1")).contains("the pod is bound to node-1");
  }

  @Test
  void cpuMemoryAndPodsAreCounted() {
    NodeLoads loads = new NodeLoads(node -> {});
    loads.put("other", "node-0",
        PodRequests.of(pod("containers: [{name: c, resources: {requests: {cpu: \"3\", memory: 1Gi}}}]")));
    assertThat(NodeFit.refusal(asking("1500m", "1Gi"), NODE, loads.without("p", "node-0")))
        .contains("too little CPU is free on the node");
    assertThat(NodeFit.refusal(asking("1", "7.5Gi"), NODE, loads.without("p", "node-0")))
        .contains("too little memory is free on the node");
    assertThat(NodeFit.refusal(asking("1", "7Gi"), NODE, loads.without("p", "node-0"))).isEmpty();
    loads.put("third", "node-0", PodRequests.of(pod("{}")));
    assertThat(NodeFit.refusal(asking("1", "1Gi"), NODE, loads.without("p", "node-0")))
        .contains("the node has as many pods as it may");
    assertThat(NodeFit.refusal(asking("1", "1Gi"), NODE, loads.without("third", "node-0"))).as("not against itself")
        .isEmpty();
    loads.remove("other");
    assertThat(NodeFit.refusal(asking("4", "8Gi"), NODE, loads.without("p", "node-0"))).isEmpty();
  }

  private static Optional<String> affinity(String requirement) {
    return refusal(
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: ["
            + requirement
            + "]}]}}}\n"
            + TOLERANT);
  }

  private static Pod asking(String cpu, String memory) {
    return pod(
        "containers: [{name: c, resources: {requests: {cpu: \"" + cpu + "\", memory: " + memory + "}}}]\n" + TOLERANT);
  }

  private static Optional<String> refusal(String spec) {
    return NodeFit.refusal(pod(spec), NODE, Load.NONE);
  }

  private static Pod pod(String spec) {
    return Serialization.unmarshal("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n" + spec.indent(2),
        Pod.class);
  }

  private static Node node(String fields) {
    return Serialization.unmarshal("apiVersion: v1\nkind: Node\n" + fields, Node.class);
  }
}
