package dev.partita.controller.memory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.slices.SlicePlan;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The objects of a large cluster, made when they are asked for: every node has its cards and its slice, every pod runs
 * on one of them, and each of the first pods uses a claim, which has a share of a card. Pods look as kubelet and
 * controllers leave them, managed fields, probes and status included.
 *
 * @param annotations bytes of annotations of each pod
 * @param waiting how many of the pods with claims, the last of them, wait: they ask for more memory than a card has
 */
public record GeneratedCluster(int nodes, int cards, int pods, int claims, int annotations, int waiting) {
  static final ObjectMapper JSON = new ObjectMapper();

  /** The kinds that there are, by plural, each with its objects in order. */
  public Map<String, Kind> kinds() {
    Map<String, Kind> kinds = new LinkedHashMap<>();
    kinds.put("nodes", new Kind("v1", "Node", nodes, this::node));
    kinds.put("pods", new Kind("v1", "Pod", pods, i -> waits(i) ? waitingPod(i) : pod(i)));
    kinds.put("namespaces", new Kind("v1", "Namespace", 1, i -> "{\"metadata\":{" + meta("default", "", i) + "}}"));
    kinds.put("resourceclaims",
        new Kind("resource.k8s.io/v1", "ResourceClaim", claims, i -> waits(i) ? waitingClaim(i) : claim(i)));
    kinds.put("resourceclaimtemplates", new Kind("resource.k8s.io/v1", "ResourceClaimTemplate", 0, i -> ""));
    kinds.put("deviceclasses", new Kind("resource.k8s.io/v1", "DeviceClass", 0, i -> ""));
    kinds.put("resourceslices", new Kind("resource.k8s.io/v1", "ResourceSlice", nodes, renamed(slice(), "slice-")));
    kinds.put("gpunodes", new Kind(Driver.GROUP_VERSION, "GpuNode", nodes, renamed(gpuNode(), "gpunode-")));
    kinds.put("gpuquotas", new Kind(Driver.GROUP_VERSION, "GpuQuota", 0, i -> ""));
    return kinds;
  }

  /** All objects of a kind. */
  public record Kind(String apiVersion, String kind, int count, IntFunction<String> body) {
    public ObjectNode object(int index) {
      try {
        ObjectNode object = JSON.createObjectNode().put("kind", kind).put("apiVersion", apiVersion);
        object.setAll((ObjectNode) JSON.readTree(body.apply(index)));
        return object;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static String meta(String name, String more, int i) {
    return "\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%d\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\"%s,\"managedFields\":[%s]"
        .formatted(name, uid(name), 1000 + i, more, managed());
  }

  static String uid(String name) {
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
  }

  private static String managed() {
    String fields = IntStream.range(0, 30).mapToObj(i -> "\"f:field%d\":{\".\":{},\"f:value\":{}}".formatted(i))
        .collect(Collectors.joining(","));
    return "{\"manager\":\"kubelet\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-01-01T00:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{"
        + fields + "}}";
  }

  private static String texts(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> "\"%s-%d\":\"value-of-%d\"".formatted(prefix, i, i))
        .collect(Collectors.joining(","));
  }

  private String node(int i) {
    String images = IntStream.range(0, 50).mapToObj(
        n -> "{\"names\":[\"registry.example/image-%d@sha256:%064d\",\"registry.example/image-%d:v1\"],\"sizeBytes\":123456789}"
            .formatted(n, n, n))
        .collect(Collectors.joining(","));
    String conditions =
        List.of("MemoryPressure", "DiskPressure", "PIDPressure", "Ready").stream()
            .map(
                c -> "{\"type\":\"%s\",\"status\":\"%s\",\"lastHeartbeatTime\":\"2026-01-01T00:00:00Z\",\"reason\":\"KubeletSays\",\"message\":\"kubelet has something to say\"}"
                    .formatted(c, c.equals("Ready") ? "True" : "False"))
            .collect(Collectors.joining(","));
    return "{\"metadata\":{%s},\"spec\":{\"podCIDR\":\"10.0.0.0/24\",\"providerID\":\"cloud:///zone-%d/i-%010d\"},\"status\":{\"capacity\":{%s},\"allocatable\":{%s},\"conditions\":[%s],\"images\":[%s],\"nodeInfo\":{%s}}}"
        .formatted(
            meta("node-" + i,
                ",\"labels\":{\"kubernetes.io/hostname\":\"node-%d\",\"topology.kubernetes.io/zone\":\"zone-%d\",%s},\"annotations\":{%s}"
                    .formatted(i, i % 3, texts("label", 20), texts("annotation", 10)),
                i),
            i % 3, i, amounts(), amounts(), conditions, images, texts("info", 10));
  }

  private static String amounts() {
    return "\"cpu\":\"128\",\"memory\":\"1056Gi\",\"pods\":\"250\",\"ephemeral-storage\":\"1800Gi\",\"hugepages-1Gi\":\"0\",\"hugepages-2Mi\":\"0\"";
  }

  private String pod(int i) {
    boolean hasClaim = i < claims;
    String name = "workload-%05d-x7k2p".formatted(i);
    String container =
        ("{\"name\":\"main\",\"image\":\"registry.example/team/image:v%d\",\"command\":[\"/bin/run\",\"--verbose\"],\"env\":[%s],\"resources\":{\"requests\":{\"cpu\":\"%d\",\"memory\":\"%dGi\"},"
            + "\"limits\":{\"memory\":\"16Gi\"}%s},\"livenessProbe\":{\"httpGet\":{\"path\":\"/\",\"port\":80},\"periodSeconds\":10},\"volumeMounts\":[%s],\"terminationMessagePath\":\"/dev/termination-log\"}")
            .formatted(
                i % 50,
                IntStream.range(0, 15)
                    .mapToObj(e -> "{\"name\":\"VARIABLE_%d\",\"value\":\"the value of it %d\"}".formatted(e, i))
                    .collect(Collectors.joining(",")),
                1 + i % 8, 1 + i % 16,
                hasClaim ? ",\"claims\":[{\"name\":\"gpu\"}]" : "",
                IntStream.range(0, 4)
                    .mapToObj(v -> "{\"name\":\"volume-%d\",\"mountPath\":\"/mnt/%d\"}".formatted(v, v))
                    .collect(Collectors.joining(",")));
    String status =
        ("{\"name\":\"main\",\"ready\":true,\"image\":\"registry.example/team/image\",\"imageID\":\"sha256:%1$064d\",\"state\":{\"running\":{\"startedAt\":\"2026-01-01T00:00:00Z\"}},"
            + "\"allocatedResources\":{\"cpu\":\"%2$d\",\"memory\":\"%3$dGi\"},\"resources\":{\"requests\":{\"cpu\":\"%2$d\",\"memory\":\"%3$dGi\"},\"limits\":{\"memory\":\"16Gi\"}}}")
            .formatted(i, 1 + i % 8, 1 + i % 16);
    String claim =
        hasClaim ? "\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimTemplateName\":\"quarter-h200\"}]," : "";
    String claimStatus = hasClaim
        ? ",\"resourceClaimStatuses\":[{\"name\":\"gpu\",\"resourceClaimName\":\"%s\"}]".formatted(claimName(i))
        : "";
    String conditions =
        List.of("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled").stream()
            .map(
                "{\"type\":\"%s\",\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"::formatted)
            .collect(Collectors.joining(","));
    return ("{\"metadata\":{%s},\"spec\":{%s\"nodeName\":\"%s\",\"priority\":0,\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,\"schedulerName\":\"default-scheduler\","
        + "\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300},"
        + "{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],"
        + "\"volumes\":[{\"name\":\"token\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"path\":\"token\"}}]}}],\"containers\":[%s,%s]},"
        + "\"status\":{\"phase\":\"Running\",\"hostIP\":\"10.1.2.3\",\"podIP\":\"10.0.0.1\",\"startTime\":\"2026-01-01T00:00:00Z\",\"conditions\":[%s],"
        + "\"containerStatuses\":[%s,%s]%s}}")
        .formatted(
            meta(name,
                ",\"namespace\":\"default\",\"labels\":{%s},\"annotations\":{\"note\":\"%s\"},\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"workload\",\"uid\":\"u\"}]"
                    .formatted(texts("label", 6), "a".repeat(annotations)),
                i),
            claim, "node-" + i % Math.max(1, nodes), container, container.replace("\"main\"", "\"sidecar\""),
            conditions, status, status.replace("\"main\"", "\"sidecar\""), claimStatus);
  }

  private boolean waits(int i) {
    return i < claims && i >= claims - waiting;
  }

  private String waitingPod(int i) {
    ObjectNode pod = read(pod(i));
    pod.withObject("/spec").remove("nodeName");
    ObjectNode status = JSON.createObjectNode().put("phase", "Pending");
    status.set("resourceClaimStatuses", pod.path("status").path("resourceClaimStatuses"));
    pod.set("status", status);
    return pod.toString();
  }

  private String waitingClaim(int i) {
    ObjectNode claim = read(claim(i).replace("\"memory\":\"32Gi\"", "\"memory\":\"%dGi\"".formatted(200 + i % 50)));
    claim.remove("status");
    claim.withObject("/metadata").remove("annotations");
    return claim.toString();
  }

  private static ObjectNode read(String text) {
    try {
      return (ObjectNode) JSON.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String claimName(int i) {
    return "workload-%05d-x7k2p-gpu-9d2mf".formatted(i);
  }

  private String claim(int i) {
    String node = "node-" + i % nodes;
    int card = i / nodes % cards;
    return ("{\"metadata\":{%s},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"gpu\",\"exactly\":{\"deviceClassName\":\"gpu.partita.dev\",\"allocationMode\":\"ExactCount\",\"count\":1,"
        + "\"capacity\":{\"requests\":{\"memory\":\"32Gi\",\"cores\":\"25\"}}}}]}},"
        + "\"status\":{\"allocation\":{\"allocationTimestamp\":\"2026-01-01T00:00:00Z\",\"devices\":{\"results\":[{\"request\":\"gpu\",\"driver\":\"gpu.partita.dev\",\"pool\":\"%s\",\"device\":\"gpu-%d-shared\","
        + "\"shareID\":\"%s\",\"consumedCapacity\":{\"memory\":\"32Gi\",\"cores\":\"25\"}}]},"
        + "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"%s\"]}]}]}},"
        + "\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"workload-%05d-x7k2p\",\"uid\":\"%s\"}],"
        + "\"devices\":[{\"driver\":\"gpu.partita.dev\",\"pool\":\"p\",\"device\":\"d\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Prepared\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}]}}")
        .formatted(
            meta(claimName(i),
                ",\"namespace\":\"default\",\"annotations\":{\"gpu.partita.dev/proposed-allocation\":\"%s gpu-%d-shared=34359738368/25 #%s\",\"resource.kubernetes.io/pod-claim-name\":\"gpu\"},\"finalizers\":[\"resource.kubernetes.io/delete-protection\"],\"ownerReferences\":[{\"kind\":\"Pod\",\"name\":\"workload\",\"uid\":\"u\"}]"
                    .formatted(node, card, uid("proposal" + i)),
                i),
            Driver.poolOf(node), card, uid("share" + i), node, i, uid("workload-%05d-x7k2p".formatted(i)));
  }

  /** The first node's with another name: to plan every node's would take longer than all else. */
  private IntFunction<String> renamed(String ofFirst, String uid) {
    return i -> ofFirst.replace("node-0", "node-" + i).replace("first-uid", uid(uid + i)).replace("owner-uid",
        uid("gpunode-" + i));
  }

  private String gpuNode() {
    ObjectNode node = JSON.valueToTree(GpuNodes.ready("node-0", cards, "NVIDIA H200", 141 * GpuNodes.GIB));
    ((ObjectNode) node.path("metadata")).put("uid", "first-uid").put("resourceVersion", "1000");
    return node.toString();
  }

  private String slice() {
    GpuNode node = GpuNodes.ready("node-0", cards, "NVIDIA H200", 141 * GpuNodes.GIB);
    ResourceSliceSpec spec =
        SlicePlan.of(Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"))).getFirst();
    JsonNode slice =
        JSON.valueToTree(
            new ResourceSliceBuilder()
                .withNewMetadata()
                .withName("node-0-" + Driver.NAME + "-0")
                .withUid("first-uid")
                .withResourceVersion("1000")
                .addToLabels(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER)
                .addNewOwnerReference()
                .withApiVersion(Driver.GROUP_VERSION)
                .withKind("GpuNode")
                .withName("node-0")
                .withUid("owner-uid")
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .withNewSpecLike(spec)
                .editPool()
                .withGeneration(1L)
                .endPool()
                .endSpec()
                .build());
    return slice.toString();
  }
}
