package dev.partita.controller.inventory;

import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says which taints DeviceTaintRules put on devices of ours. Kubernetes' device-taint-eviction controller evicts by
 * them, and kube-scheduler honours them where it allocates; so they stand in no ResourceSlice.
 */
final class TaintRules {
  /** An effect that says something and keeps nobody off. */
  private static final String NO_EFFECT = "None";

  /** Of devices in every pool. */
  private final List<Rule> everywhere = new ArrayList<>();

  private final Map<String, List<Rule>> byPool = new HashMap<>();

  /**
   * A rule, as far as it is about our devices of one node.
   *
   * @param device the name of the only device; empty for all of the node
   */
  record Rule(Optional<String> device, Device.Taint taint) {}

  private TaintRules() {}

  /** Reads the rules, in the order of their names. */
  static TaintRules of(Collection<DeviceTaintRule> rules) {
    TaintRules read = new TaintRules();
    rules.stream().sorted(Comparator.comparing(rule -> rule.getMetadata().getName())).forEach(read::add);
    return read;
  }

  private void add(DeviceTaintRule rule) {
    DeviceTaintRule.@Nullable Spec spec = rule.getSpec();
    DeviceTaintRule.@Nullable Taint taint = spec == null ? null : spec.taint();
    if (spec == null || taint == null || taint.key() == null || NO_EFFECT.equals(taint.effect())) {
      return;
    }
    DeviceTaintRule.Selector selector =
        Objects.requireNonNullElse(spec.deviceSelector(), new DeviceTaintRule.Selector(null, null, null));
    if (selector.driver() != null && !selector.driver().equals(Driver.NAME)) {
      return;
    }
    Rule read = new Rule(
        Optional.ofNullable(selector.device()),
        new Device.Taint(
            taint.key(),
            Objects.requireNonNullElse(taint.value(), ""),
            Objects.requireNonNullElse(taint.effect(), ""),
            Optional.of(rule.getMetadata().getName())));
    List<Rule> place =
        selector.pool() == null ? everywhere : byPool.computeIfAbsent(selector.pool(), pool -> new ArrayList<>());
    place.add(read);
  }

  /** The rules about devices of that node. */
  List<Rule> of(String node) {
    if (byPool.isEmpty()) {
      return everywhere; // asked for each node of a cluster, each time one of them changes
    }
    List<Rule> ofPool = byPool.getOrDefault(Driver.poolOf(node), List.of());
    List<Rule> both = new ArrayList<>(everywhere);
    both.addAll(ofPool);
    return both;
  }

  /** The taints that a device is published with, and behind them those that the rules of its node put on it. */
  static List<Device.Taint> with(List<Device.Taint> published, DeviceName device, List<Rule> rules) {
    String name = device.toString();
    List<Device.Taint> all = new ArrayList<>(published);
    rules.stream().filter(rule -> rule.device().map(name::equals).orElse(true)).map(Rule::taint).forEach(all::add);
    return all;
  }
}
