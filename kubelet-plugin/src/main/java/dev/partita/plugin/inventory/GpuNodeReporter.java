package dev.partita.plugin.inventory;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.node.BindingClaim;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.NodeSetup;
import dev.partita.api.resize.NodeResizes;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the node's GpuNode up to date: makes it if it is missing, writes its status when that changes, and never writes
 * its spec. It watches the object, so that an unchanged node costs no call.
 */
public final class GpuNodeReporter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GpuNodeReporter.class);

  private final KubernetesClient client;
  private final ApiCalls calls;
  private final String nodeName;
  private final @Nullable String pluginVersion;
  private final @Nullable String podUid;
  private final Clock clock;
  private final SharedIndexInformer<GpuNode> informer;
  private final Object arrival = new Object();
  private volatile @Nullable GpuNode seen;
  private volatile boolean reported;
  private volatile Runnable listener = () -> {};
  private volatile @Nullable Written written;

  /**
   * What was written last. The server drops what its GpuNodes do not have, as it does with the custom resource of an
   * earlier release: to write that again and again would change nothing.
   *
   * @param kept what the server made of it
   */
  private record Written(GpuNodeStatus status, @Nullable GpuNodeStatus kept) {}

  public GpuNodeReporter(
      KubernetesClient client,
      ApiCalls calls,
      String nodeName,
      Optional<String> pluginVersion,
      Optional<String> podUid,
      Clock clock) {
    this.client = client;
    this.calls = calls;
    this.nodeName = nodeName;
    this.pluginVersion = pluginVersion.orElse(null);
    this.podUid = podUid.orElse(null);
    this.clock = clock;
    this.informer = client.resources(GpuNode.class).withName(nodeName).runnableInformer(0);
    informer.exceptionHandler(
        (started, failure) -> {
          LOG.warn("cannot watch GpuNode {}: {}; trying again", nodeName, failure.getMessage());
          return true;
        });
    informer.addEventHandler(new Seen());
  }

  /** Starts to watch; goes on trying while the server cannot be reached or does not know GpuNodes. */
  public void start() {
    informer.start().whenComplete((done, failure) -> {
      if (failure != null) {
        LOG.warn("cannot watch GpuNode {}: {}", nodeName, failure.getMessage());
      }
    });
  }

  /** The cards that an earlier plugin reported; empty if that is not known. */
  public List<Gpu> earlierCards() {
    try {
      @Nullable GpuNode node = calls.call(() -> client.resources(GpuNode.class).withName(nodeName).get());
      return node == null || node.getStatus() == null ? List.of() : node.getStatus().gpus();
    } catch (KubernetesClientException e) {
      LOG.info("cannot read the cards reported earlier: {}", ApiCalls.explain(e));
      return List.of();
    }
  }

  /** Whether the status has been written, or found to be right, since the start. */
  public boolean hasReported() {
    return reported;
  }

  /** The node's settings as they are known; the defaults as long as they have not been read. */
  public GpuNodeSpec spec() {
    GpuNode node = seen;
    return node == null || node.getSpec() == null ? GpuNodeSpec.DEFAULT : node.getSpec();
  }

  /** What the controller tells of resized shares of this node; empty as long as that has not been read. */
  public Optional<NodeResizes> resizes() {
    GpuNode node = seen;
    return node == null
        ? Optional.empty()
        : Optional.of(node.getStatus() == null ? NodeResizes.NONE : node.getStatus().resizes());
  }

  /** Claims whose pods wait for MIG instances of this node; empty as long as that has not been read. */
  public Optional<List<BindingClaim>> bindingClaims() {
    GpuNode node = seen;
    return node == null
        ? Optional.empty()
        : Optional.of(node.getStatus() == null ? List.of() : node.getStatus().bindingClaims());
  }

  /** Has something told whenever the GpuNode is seen anew, on the thread that watches. It must not block. */
  public void onChange(Runnable told) {
    listener = told;
  }

  /**
   * What the GpuNode's spec says; waits for it while it is not known. There is no default for that time, since what is
   * prepared by a wrong spec stays so.
   *
   * @param atMost how long
   * @throws IllegalStateException if the GpuNode is not known by then
   */
  public GpuNodeSpec spec(Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    synchronized (arrival) {
      for (GpuNode node = seen;; node = seen) {
        if (node != null) {
          return node.getSpec() == null ? GpuNodeSpec.DEFAULT : node.getSpec();
        }
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new IllegalStateException(
              "GpuNode " + nodeName
                  + " has not been read yet, and its spec says how claims are prepared here; kubelet tries again."
                  + " If this lasts, see why in the log of the node's plugin");
        }
        try {
          TimeUnit.NANOSECONDS.timedWait(arrival, left);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new IllegalStateException("the plugin of node " + nodeName + " is stopping; kubelet tries again", e);
        }
      }
    }
  }

  /**
   * Writes the status if the server has another one. Throws KubernetesClientException if that cannot be done.
   *
   * @param held what the node holds that no claim accounts for
   * @param setup how the node is set up
   */
  public void report(Inventory inventory, List<HeldClaim> held, NodeSetup setup) {
    GpuNode known = seen;
    if (known == null || !isKept(statusOf(inventory, held, setup, known), known.getStatus())) {
      calls.run(() -> write(inventory, held, setup));
    }
    reported = true;
  }

  /** Whether the server has that status, or what it made of it. */
  private boolean isKept(GpuNodeStatus wanted, @Nullable GpuNodeStatus there) {
    return wanted.equals(there) || new Written(wanted, there).equals(written);
  }

  @Override
  public void close() {
    informer.close();
  }

  private void write(Inventory inventory, List<HeldClaim> held, NodeSetup setup) {
    GpuNode node = client.resources(GpuNode.class).withName(nodeName).get();
    if (node == null) {
      node = create();
    }
    GpuNodeStatus status = statusOf(inventory, held, setup, node);
    if (!isKept(status, node.getStatus())) {
      node.setStatus(status);
      node = client.resource(node).updateStatus();
      written = new Written(status, node.getStatus());
      LOG.info("GpuNode {} updated: {} cards ({})", nodeName, status.gpuCount(), status.models());
    }
    see(node);
  }

  private void see(@Nullable GpuNode node) {
    synchronized (arrival) {
      seen = node;
      arrival.notifyAll();
    }
    listener.run();
  }

  private GpuNodeStatus statusOf(Inventory inventory, List<HeldClaim> held, NodeSetup setup, GpuNode node) {
    return GpuNodeStatuses.of(inventory, held, setup, node.getStatus(), pluginVersion, podUid, clock.instant());
  }

  private GpuNode create() {
    GpuNode node = new GpuNode();
    ObjectMetaBuilder metadata = new ObjectMetaBuilder().withName(nodeName);
    Node owner = client.nodes().withName(nodeName).get();
    if (owner == null) {
      LOG.warn("there is no Node {}, so its GpuNode has no owner and stays when the node goes", nodeName);
    } else {
      metadata.withOwnerReferences(
          new OwnerReferenceBuilder()
              .withApiVersion("v1")
              .withKind("Node")
              .withName(nodeName)
              .withUid(owner.getMetadata().getUid())
              .build());
    }
    node.setMetadata(metadata.build());
    node.setSpec(owner == null ? GpuNodeSpec.DEFAULT : InitialSpec.of(owner));
    try {
      return client.resource(node).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        LOG.debug("GpuNode {} was made by somebody else meanwhile", nodeName);
      }
      throw e;
    }
  }

  private final class Seen implements ResourceEventHandler<GpuNode> {
    @Override
    public void onAdd(GpuNode node) {
      see(node);
    }

    @Override
    public void onUpdate(GpuNode earlier, GpuNode node) {
      see(node);
    }

    @Override
    public void onDelete(GpuNode node, boolean unknownFinalState) {
      see(null);
    }
  }
}
