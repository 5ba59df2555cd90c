package dev.partita.plugin.inventory;

import dev.partita.api.Driver;
import dev.partita.api.node.GpuNodeSpec;
import io.fabric8.kubernetes.api.model.Node;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says with which spec a node's GpuNode is made: labels of the Node say it, so that whoever adds nodes need not write
 * into each GpuNode. A label that says nothing is logged, and the default holds in its place.
 */
final class InitialSpec {
  private static final Logger LOG = LoggerFactory.getLogger(InitialSpec.class);

  private InitialSpec() {}

  static GpuNodeSpec of(Node node) {
    GpuNodeSpec byDefault = GpuNodeSpec.DEFAULT;
    return new GpuNodeSpec(
        constants(node, Driver.ALLOCATOR_LABEL, EnumSet.complementOf(EnumSet.of(GpuNodeSpec.Allocator.Unknown)), 1)
            .map(List::getFirst).orElse(byDefault.allocator()),
        constants(node, Driver.PUBLISH_LABEL, EnumSet.complementOf(EnumSet.of(GpuNodeSpec.PublishedMode.Unknown)),
            Integer.MAX_VALUE).orElse(byDefault.publish()),
        null);
  }

  /** Those that the label names, with dots between; empty without it, and where it names anything else, or more. */
  private static <E extends Enum<E>> Optional<List<E>> constants(Node node, String label, Set<E> known, int most) {
    Map<String, String> labels = Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of());
    String said = labels.get(label);
    if (said == null) {
      return Optional.empty();
    }
    Set<String> names = new LinkedHashSet<>(List.of(said.split("\\.", -1)));
    List<E> named = names.stream()
        .flatMap(name -> known.stream().filter(constant -> constant.name().equals(name))).toList();
    if (named.size() == names.size() && named.size() <= most) {
      return Optional.of(named);
    }
    LOG.warn("Node {} has the label {}={}, which says nothing: it must be of {}", node.getMetadata().getName(), label,
        said, known);
    return Optional.empty();
  }
}
