package dev.partita.e2e.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a pod is like besides its claim and its program.
 *
 * @param nodes labels of the nodes that it may run on
 * @param gates its scheduling gates
 * @param priorityClass empty for the cluster's default
 * @param podGroup the PodGroup that it names; empty for none
 * @param hostPorts ports of its node that it wants for itself
 * @param restartPolicy what becomes of a container that has ended
 * @param graceSeconds for how long its program may go on when it is told to end
 */
public record PodTraits(
    Map<String, String> nodes,
    Map<String, String> labels,
    Map<String, String> annotations,
    List<String> gates,
    String priorityClass,
    String podGroup,
    List<Integer> hostPorts,
    String restartPolicy,
    int graceSeconds) {
  /** The gate that the controller takes off. */
  public static final String ALLOCATION_GATE = "gpu.partita.dev/allocation";

  /** A pod for one node. */
  public static PodTraits on(String node) {
    return onNodesWith("kubernetes.io/hostname", node);
  }

  /** A pod for the nodes with this label. */
  public static PodTraits onNodesWith(String label, String value) {
    return new PodTraits(Map.of(label, value), Map.of(), Map.of(), List.of(), "", "", List.of(), "Never", 1);
  }

  public PodTraits label(String name, String value) {
    return new PodTraits(nodes, with(labels, name, value), annotations, gates, priorityClass, podGroup, hostPorts,
        restartPolicy,
        graceSeconds);
  }

  public PodTraits annotation(String name, String value) {
    return new PodTraits(nodes, labels, with(annotations, name, value), gates, priorityClass, podGroup, hostPorts,
        restartPolicy,
        graceSeconds);
  }

  /** One of a gang of this many. */
  public PodTraits gang(String gang, int size) {
    return annotation("gpu.partita.dev/gang", gang).annotation("gpu.partita.dev/gang-size", Integer.toString(size));
  }

  public PodTraits gate(String gate) {
    List<String> more = new ArrayList<>(gates);
    more.add(gate);
    return new PodTraits(nodes, labels, annotations, more, priorityClass, podGroup, hostPorts, restartPolicy,
        graceSeconds);
  }

  public PodTraits priorityClass(String name) {
    return new PodTraits(nodes, labels, annotations, gates, name, podGroup, hostPorts, restartPolicy, graceSeconds);
  }

  /** One of the pods of that PodGroup. */
  public PodTraits podGroup(String name) {
    return new PodTraits(nodes, labels, annotations, gates, priorityClass, name, hostPorts, restartPolicy,
        graceSeconds);
  }

  public PodTraits hostPort(int port) {
    return new PodTraits(nodes, labels, annotations, gates, priorityClass, podGroup, List.of(port), restartPolicy,
        graceSeconds);
  }

  /** Its container is started again whenever it has ended. */
  public PodTraits startedAgain() {
    return new PodTraits(nodes, labels, annotations, gates, priorityClass, podGroup, hostPorts, "Always", graceSeconds);
  }

  /** Its program may go on for so long when it is told to end. */
  public PodTraits grace(int seconds) {
    return new PodTraits(nodes, labels, annotations, gates, priorityClass, podGroup, hostPorts, restartPolicy, seconds);
  }

  private static Map<String, String> with(Map<String, String> map, String name, String value) {
    Map<String, String> more = new TreeMap<>(map);
    more.put(name, value);
    return more;
  }
}
