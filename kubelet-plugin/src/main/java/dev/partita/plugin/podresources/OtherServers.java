package dev.partita.plugin.podresources;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.gpu.StaticMigInstance;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
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
 * it (KEP-606). NVIDIA's device plugin, HAMi's, gpushare's and their kin name a device by the UUID of its card, or of a
 * MIG instance of it, with something behind it where a card has several. Where kubelet does not answer, what it said
 * last still holds: a card is not to be given away because nobody knows.
 */
public final class OtherServers {
  private static final String OLD_INSTANCE = "MIG-GPU-";

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
   * @return who hands out which of the cards as well, or a MIG instance of them, by the cards' UUIDs
   */
  public Map<String, List<OtherServer>> of(Collection<Gpu> cards) {
    kubelet
        .ask(stub -> read(cards, stub.getAllocatableResources(AllocatableResourcesRequest.getDefaultInstance()),
            stub.list(ListPodResourcesRequest.getDefaultInstance())))
        .ifPresent(answer -> known = answer);
    return known;
  }

  static Map<String, List<OtherServer>> read(
      Collection<Gpu> gpus,
      AllocatableResourcesResponse offered,
      ListPodResourcesResponse pods) {
    Cards cards = new Cards(gpus);
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
    /** UUIDs of cards, by their own and by those of their MIG instances. */
    private final Map<String, String> byUuid = new HashMap<>();
    private final Map<String, Map<String, HandedOut>> found = new TreeMap<>();

    Cards(Collection<Gpu> gpus) {
      for (Gpu gpu : gpus) {
        byUuid.put(gpu.uuid(), gpu.uuid());
        gpu.staticMigInstances().stream().map(StaticMigInstance::uuid).filter(uuid -> !uuid.isEmpty())
            .forEach(uuid -> byUuid.put(uuid, gpu.uuid()));
      }
    }

    HandedOut handedOut(String card, String resource) {
      return found.computeIfAbsent(card, _ -> new TreeMap<>()).computeIfAbsent(resource, _ -> new HandedOut());
    }

    Set<String> of(Collection<String> ids) {
      return byUuid.entrySet().stream().filter(card -> ids.stream().anyMatch(id -> isOf(id, card.getKey())))
          .map(Map.Entry::getValue).collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * {@code GPU-4f3b…} itself, {@code GPU-4f3b…::2}, {@code GPU-4f3b…-2}; and {@code MIG-GPU-4f3b…/1/0}, as drivers
     * before 470 name a MIG instance.
     */
    private static boolean isOf(String id, String uuid) {
      String name = id.startsWith(OLD_INSTANCE) ? id.substring("MIG-".length()) : id;
      return name.startsWith(uuid)
          && (name.length() == uuid.length() || !Character.isLetterOrDigit(name.charAt(uuid.length())));
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
