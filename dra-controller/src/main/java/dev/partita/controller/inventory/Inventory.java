package dev.partita.controller.inventory;

import dev.partita.api.node.GpuNode;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Every node's cards at one moment. Nodes that report nothing new keep their objects from one inventory to the next.
 */
public final class Inventory {
  public static final Inventory EMPTY = new Inventory(new TreeMap<>(), Map.of(), new HostReader());

  private final SortedMap<String, GpuHost> hosts;
  private final Map<String, Source> sources;
  private final HostReader reader;

  private Inventory(SortedMap<String, GpuHost> hosts, Map<String, Source> sources, HostReader reader) {
    this.hosts = Collections.unmodifiableSortedMap(hosts);
    this.sources = sources;
    this.reader = reader;
  }

  /** Hosts by name of the node. */
  public SortedMap<String, GpuHost> hosts() {
    return hosts;
  }

  public @Nullable GpuHost host(String node) {
    return hosts.get(node);
  }

  /** The same where there are no DeviceTaintRules. */
  public Inventory refreshed(Collection<GpuNode> gpuNodes) {
    return refreshed(gpuNodes, List.of());
  }

  /**
   * The inventory after reading these GpuNodes and DeviceTaintRules, which are all that there are; this one if nothing
   * of substance changed.
   */
  public Inventory refreshed(Collection<GpuNode> gpuNodes, Collection<DeviceTaintRule> taintRules) {
    TaintRules rules = TaintRules.of(taintRules);
    SortedMap<String, GpuHost> freshHosts = new TreeMap<>();
    Map<String, Source> freshSources = new HashMap<>();
    HostReader next = this == EMPTY ? new HostReader() : reader; // what it shares ends with who began from nothing
    boolean changed = gpuNodes.size() != hosts.size();
    for (GpuNode node : gpuNodes) {
      String name = node.getMetadata().getName();
      Source source = Source.of(node, rules.of(name));
      GpuHost known = hosts.get(name);
      if (known == null || !source.equals(sources.get(name))) {
        known = next.read(node, source.rules());
        changed = true;
      }
      freshHosts.put(name, known);
      freshSources.put(name, source);
    }
    return changed ? new Inventory(freshHosts, freshSources, next) : this;
  }

  /** The parts of a GpuNode that matter to this controller, and the DeviceTaintRules about its devices. */
  private record Source(
      dev.partita.api.node.GpuNodeSpec spec,
      @Nullable Object cards,
      @Nullable String driver,
      @Nullable String cuda,
      String unready,
      Object held,
      Object otherDrivers,
      List<TaintRules.Rule> rules) {
    static Source of(GpuNode node, List<TaintRules.Rule> rules) {
      var status = node.getStatus();
      return new Source(
          Objects.requireNonNullElse(node.getSpec(), dev.partita.api.node.GpuNodeSpec.DEFAULT),
          status == null ? null : status.gpus(),
          status == null ? null : status.driverVersion(),
          status == null ? null : status.cudaDriverVersion(),
          HostReader.unready(node).orElse(""),
          status == null ? List.of() : status.held(),
          status == null ? List.of() : status.otherDrivers(),
          rules);
    }
  }
}
