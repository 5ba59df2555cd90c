package dev.partita.api.node;

import dev.partita.api.Driver;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * A node with GPUs; cluster-scoped and named after its Node. The plugin writes the status, an administrator the spec.
 * Its types ignore fields that they do not know, and read words that they do not know as the worst that these may mean:
 * while a cluster is upgraded, plugins, controllers and command lines of several releases read each other's GpuNodes.
 */
@Group(Driver.API_GROUP)
@Version(Driver.API_VERSION)
@Kind("GpuNode")
@Plural("gpunodes")
@Singular("gpunode")
@ShortNames("gn")
@AdditionalPrinterColumn(name = "GPUs", jsonPath = ".status.gpuCount", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Models", jsonPath = ".status.models")
@AdditionalPrinterColumn(name = "Driver", jsonPath = ".status.driverVersion")
@AdditionalPrinterColumn(name = "Allocator", jsonPath = ".spec.allocator")
@AdditionalPrinterColumn(name = "Ready", jsonPath = ".status.conditions[?(@.type==\"Ready\")].status")
@AdditionalPrinterColumn(name = "Reason", jsonPath = ".status.conditions[?(@.type==\"Ready\")].reason", priority = 1)
@AdditionalPrinterColumn(name = "Cordoned", jsonPath = ".spec.cordoned", priority = 1)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
public class GpuNode extends CustomResource<GpuNodeSpec, GpuNodeStatus> {
  /** Condition: the node's cards can be handed out. */
  public static final String READY = "Ready";

  /**
   * Condition, written by the controller, and only where it is true: what the node offers slows kube-scheduler down for
   * all pods with claims.
   */
  public static final String SLOW_SCHEDULING = "SlowScheduling";

  /**
   * Condition, and only where the node has files that list opaque cards: whether all that they say can be used, and if
   * not, what is wrong and where.
   */
  public static final String CARD_FILES_VALID = "CardFilesValid";

  /** Whether kube-scheduler is to allocate the node's cards, and not the controller. Of no node it is not. */
  public static boolean isLeftToScheduler(@Nullable GpuNode node) {
    return node != null && node.getSpec() != null && node.getSpec().allocator() == GpuNodeSpec.Allocator.Scheduler;
  }

  @Override
  protected GpuNodeSpec initSpec() {
    return GpuNodeSpec.DEFAULT;
  }
}
