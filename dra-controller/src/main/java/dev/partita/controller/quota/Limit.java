package dev.partita.controller.quota;

import dev.partita.api.Bytes;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuotaSpec;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A limit of a quota, in the form in which it is compared.
 *
 * @param name for people
 * @param models the cards that count; all if empty
 * @param nodes the nodes that count; empty for all
 * @param guaranteed what may always be had; {@link Long#MAX_VALUE} where there is no limit
 * @param most what may be had with what is borrowed
 */
record Limit(String name, Set<String> models, Optional<LabelSelector> nodes, Use guaranteed, Use most) {
  static Limit of(GpuQuotaSpec.Limit limit) {
    Amounts own = limit.guaranteed();
    Amounts more = limit.burst();
    return new Limit(
        limit.name(),
        Set.copyOf(limit.models()),
        Optional.ofNullable(limit.nodeSelector()),
        new Use(
            guaranteed(bytes(own.memory()), bytes(more.memory())),
            guaranteed(own.cores(), more.cores()),
            guaranteed(own.cards(), more.cards()),
            guaranteed(own.claims(), more.claims())),
        new Use(
            most(bytes(own.memory()), bytes(more.memory())),
            most(own.cores(), more.cores()),
            most(own.cards(), more.cards()),
            most(own.claims(), more.claims())));
  }

  boolean countsModel(String model) {
    return models.isEmpty() || models.contains(model);
  }

  boolean countsNode(Map<String, String> labels) {
    return nodes.isEmpty() || Labels.selects(nodes.get(), labels);
  }

  private static @Nullable Long bytes(@Nullable Quantity quantity) {
    return quantity == null ? null : Long.valueOf(Bytes.of(quantity));
  }

  private static long guaranteed(@Nullable Long own, @Nullable Long more) {
    return own != null ? amount(own) : more != null ? 0 : Long.MAX_VALUE;
  }

  private static long most(@Nullable Long own, @Nullable Long more) {
    return own == null && more == null ? Long.MAX_VALUE : amount(own) + amount(more);
  }

  private static long amount(@Nullable Long given) {
    return given == null ? 0 : Math.clamp(given, 0, Use.BEYOND);
  }
}
