package dev.partita.plugin.podresources;

import dev.partita.api.node.Gpu;
import dev.partita.api.node.OtherServer;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import k8s.io.kubelet.pkg.apis.podresources.v1.AllocatableResourcesRequest;
import k8s.io.kubelet.pkg.apis.podresources.v1.AllocatableResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesRequest;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesResponse;

/**
 * Asks kubelet which other device plugins hand out the node's cards: what they offer (KEP-2043), and what pods have of
 * it (KEP-606). NVIDIA's device plugin, HAMi's, gpushare's and their kin name a device by its card's UUID, with
 * something behind it where a card has several. Where kubelet does not answer, what it said last still holds: a card is
 * not to be given away because nobody knows.
 */
public final class OtherServers {
  private final PodResourcesClient kubelet;
  private volatile Map<String, List<OtherServer>> known = Map.of();

  /** @param socket kubelet's, such as /var/lib/kubelet/pod-resources/kubelet.sock */
  public OtherServers(Path socket) {
    this.kubelet =
        new PodResourcesClient(socket, "whether another device plugin hands out the same cards is not known");
  }

  /** Tells what an earlier plugin has reported, which holds until kubelet has answered. */
  public void remember(Collection<Gpu> earlier) {
    known = earlier.stream().filter(gpu -> !gpu.servedBy().isEmpty())
        .collect(Collectors.toMap(Gpu::uuid, Gpu::servedBy, (first, _) -> first));
  }

  /**
   * Asks now.
   *
   * @param uuids of the cards
   * @return who hands out which of them as well, by UUID
   */
  public Map<String, List<OtherServer>> of(Collection<String> uuids) {
    kubelet
        .ask(stub -> read(uuids, stub.getAllocatableResources(AllocatableResourcesRequest.getDefaultInstance()),
            stub.list(ListPodResourcesRequest.getDefaultInstance())))
        .ifPresent(answer -> known = answer);
    return known;
  }

  static Map<String, List<OtherServer>> read(
      Collection<String> uuids,
      AllocatableResourcesResponse offered,
      ListPodResourcesResponse pods) {
    Cards cards = new Cards(uuids);
    offered.getDevicesList().forEach(
        devices -> cards.of(devices.getDeviceIdsList())
            .forEach(card -> cards.handedOut(card, devices.getResourceName()).offered = true));
    pods.getPodResourcesList().forEach(pod -> {
      Map<String, Set<String>> ofPod = new TreeMap<>();
      pod.getContainersList().stream().flatMap(container -> container.getDevicesList().stream()).forEach(
          devices -> ofPod.computeIfAbsent(devices.getResourceName(), _ -> new TreeSet<>())
              .addAll(cards.of(devices.getDeviceIdsList())));
      ofPod.forEach((resource, its) -> its.forEach(card -> cards.handedOut(card, resource).pods++));
    });
    return cards.servers();
  }

  /** What is found of one resource and one card. */
  private static final class HandedOut {
    private boolean offered;
    private int pods;
  }

  /** The cards, and what is found of them. */
  private static final class Cards {
    private final Set<String> uuids;
    private final Map<String, Map<String, HandedOut>> found = new TreeMap<>();

    Cards(Collection<String> uuids) {
      this.uuids = new HashSet<>(uuids);
    }

    HandedOut handedOut(String card, String resource) {
      return found.computeIfAbsent(card, _ -> new TreeMap<>()).computeIfAbsent(resource, _ -> new HandedOut());
    }

    Set<String> of(Collection<String> ids) {
      return uuids.stream().filter(uuid -> ids.stream().anyMatch(id -> isOf(id, uuid)))
          .collect(Collectors.toCollection(TreeSet::new));
    }

    /** {@code GPU-4f3b…} itself, {@code GPU-4f3b…::2}, {@code GPU-4f3b…-2}. */
    private static boolean isOf(String id, String uuid) {
      return id.startsWith(uuid)
          && (id.length() == uuid.length() || !Character.isLetterOrDigit(id.charAt(uuid.length())));
    }

    Map<String, List<OtherServer>> servers() {
      Map<String, List<OtherServer>> servers = new TreeMap<>();
      found.forEach((card, resources) -> servers.put(card,
          resources.entrySet().stream()
              .map(its -> new OtherServer(its.getKey(), its.getValue().offered, its.getValue().pods)).toList()));
      return servers;
    }
  }
}
