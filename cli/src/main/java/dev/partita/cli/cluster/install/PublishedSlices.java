package dev.partita.cli.cluster.install;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.cli.command.Waiting;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Whether the nodes' cards are there to be claimed. */
public final class PublishedSlices {
  private static final String PLUGIN = "partita-kubelet-plugin";

  private PublishedSlices() {}

  /**
   * Looks once.
   *
   * @param namespace of the release
   * @param cards how many cards each node with a plugin is to have
   * @return the nodes that have them, once all have
   */
  public static Waiting.Look<List<String>> look(KubernetesClient client, String namespace, int cards) {
    try {
      @Nullable DaemonSet plugin = client.apps().daemonSets().inNamespace(namespace).withName(PLUGIN).get();
      if (plugin == null) {
        return Waiting.notYet("there is no DaemonSet %s in namespace %s".formatted(PLUGIN, namespace));
      }
      List<Pod> pods =
          client.pods().inNamespace(namespace).withLabelSelector(plugin.getSpec().getSelector()).list().getItems();
      return switch (PluginNodes.of(plugin, pods, client.nodes().list().getItems())) {
        case PluginNodes.NotYet(String why) -> Waiting.notYet(why);
        case PluginNodes.Known(List<String> nodes) -> lookAt(nodes, client, cards);
      };
    } catch (KubernetesClientException unreachable) {
      return Waiting.notYet(String.valueOf(unreachable.getMessage()));
    }
  }

  private static Waiting.Look<List<String>> lookAt(List<String> nodes, KubernetesClient client, int cards) {
    Map<String, Long> published = cardsByPool(client.resources(ResourceSlice.class).list().getItems());
    Map<String, GpuNode> reports =
        client.resources(GpuNode.class).list().getItems().stream()
            .collect(Collectors.toMap(n -> n.getMetadata().getName(), n -> n));
    List<String> missing = new ArrayList<>();
    for (String node : nodes) {
      long there = published.getOrDefault(Driver.poolOf(node), 0L);
      if (there != cards) {
        missing.add("%s has %d (%s)".formatted(node, there, why(reports, node)));
      }
    }
    return missing.isEmpty() ? Waiting.done(nodes) : Waiting.notYet(String.join(", ", missing));
  }

  static Map<String, Long> cardsByPool(List<ResourceSlice> slices) {
    return slices.stream()
        .filter(slice -> Driver.NAME.equals(slice.getSpec().getDriver()))
        .collect(Collectors.groupingBy(slice -> slice.getSpec().getPool().getName(),
            Collectors.summingLong(PublishedSlices::wholeCards)));
  }

  private static long wholeCards(ResourceSlice slice) {
    return slice.getSpec().getDevices().stream()
        .filter(
            device -> DeviceName.parse(device.getName()).filter(name -> name.mode() == DeviceMode.WHOLE).isPresent())
        .count();
  }

  private static String why(Map<String, ? extends HasMetadata> reports, String node) {
    if (!(reports.get(node) instanceof GpuNode report)) {
      return "its plugin has not reported yet";
    }
    if (report.getStatus() == null) {
      return "its GpuNode has no status yet";
    }
    return report.getStatus().conditions().stream()
        .filter(condition -> GpuNode.READY.equals(condition.getType()))
        .map(Condition::getMessage)
        .findFirst()
        .orElse("the controller has not published yet");
  }
}
