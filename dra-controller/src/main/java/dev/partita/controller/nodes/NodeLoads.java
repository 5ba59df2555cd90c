package dev.partita.controller.nodes;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Keeps what pods request on every node, pod by pod. For one thread. */
public final class NodeLoads {
  /** What a pod requests, and where. */
  public record Entry(String node, PodRequests requests) {}

  private final Consumer<String> changed;
  private final Map<String, Entry> byPod = new HashMap<>();
  private final Map<String, PodRequests> byNode = new HashMap<>();

  /** @param changed takes the name of each node of which the sum changes, after it did */
  public NodeLoads(Consumer<String> changed) {
    this.changed = changed;
  }

  /** Counts the pod on that node, and no longer on any other. */
  public void put(String podUid, String node, PodRequests requests) {
    if (new Entry(node, requests).equals(byPod.get(podUid))) {
      return;
    }
    remove(podUid);
    byPod.put(podUid, new Entry(node, requests));
    byNode.merge(node, requests, PodRequests::plus);
    changed.accept(node);
  }

  public void remove(String podUid) {
    @Nullable Entry entry = byPod.remove(podUid);
    if (entry != null) {
      byNode.computeIfPresent(entry.node(), (node, sum) -> sum.minus(entry.requests()));
      changed.accept(entry.node());
    }
  }

  /** How the pod counts now; empty if it counts on no node. */
  public Optional<Entry> entry(String podUid) {
    return Optional.ofNullable(byPod.get(podUid));
  }

  /** Counts the pod as it did before. */
  public void restore(String podUid, Optional<Entry> before) {
    before.ifPresentOrElse(entry -> put(podUid, entry.node(), entry.requests()), () -> remove(podUid));
  }

  /** The node on which the pod counts; empty if it counts on none. */
  public Optional<String> nodeOf(String podUid) {
    return entry(podUid).map(Entry::node);
  }

  /** Whether the pod counts on some node. */
  public boolean counts(String podUid) {
    return byPod.containsKey(podUid);
  }

  /** What pods request there. */
  public Load of(String node) {
    return new Load(byNode.getOrDefault(node, PodRequests.NONE));
  }

  /** What other pods than this one request there. */
  public Load without(String podUid, String node) {
    PodRequests sum = byNode.getOrDefault(node, PodRequests.NONE);
    @Nullable Entry own = byPod.get(podUid);
    return new Load(own != null && own.node().equals(node) ? sum.minus(own.requests()) : sum);
  }
}
