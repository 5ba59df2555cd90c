package dev.partita.controller.watch;

import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.GpuQuota;
import dev.partita.controller.decode.CompactStore;
import dev.partita.controller.decode.InformerClient;
import dev.partita.controller.decode.PackedStore;
import dev.partita.controller.gang.GangKey;
import dev.partita.controller.gang.PodGroup;
import dev.partita.controller.gang.PodGroupPolicy;
import dev.partita.controller.inventory.DeviceTaintRule;
import dev.partita.controller.inventory.DeviceTaintRuleV1Beta2;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.PodRequests;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows the cluster as the informers have it. Listeners are told after the view has changed, on the informers' threads:
 * they must not block.
 */
public final class ClusterView implements ClusterObjects, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterView.class);
  private static final String BY_CLAIM = "claim";
  private static final String BY_GANG = "gang";
  private static final String BY_NODE = "node";
  private static final String BY_OPEN_NODE = "open-node";
  private static final String BY_OTHER_NODE = "other-node";
  private static final String BY_OTHER_POOL = "other-pool";
  private static final String BY_PLUGIN = "plugin";
  private static final String BY_TEMPLATE = "template";
  private static final String BY_UID = "uid";

  /**
   * How many objects a list is asked for at a time, as client-go asks: one answer with all would be held in memory as a
   * whole.
   */
  public static final long PAGE = 500;

  /** The same of slices: one has the size of a hundred claims until it is packed. */
  public static final long PAGE_OF_SLICES = 50;

  private final KubernetesClient client;
  private final List<SharedIndexInformer<?>> informers = new ArrayList<>();
  private final List<Heartbeat> heartbeats = new ArrayList<>();
  /** By kind: one of each version in which it is followed. */
  private final Map<String, List<CompactStore<?>>> stores = new TreeMap<>();
  private final Changes changes = new Changes();
  private final ObjectCount nodeCount = new ObjectCount();
  private final List<Consumer<ClusterEvent>> listeners = new CopyOnWriteArrayList<>();
  private final SharedIndexInformer<GpuNode> gpuNodes;
  private final SharedIndexInformer<Node> nodes;
  private final SharedIndexInformer<Pod> pods;
  private final SharedIndexInformer<ResourceClaim> claims;
  private final SharedIndexInformer<ResourceClaimTemplate> templates;
  private final SharedIndexInformer<DeviceClass> classes;
  private final SharedIndexInformer<ResourceSlice> slices;
  private final PackedStore<ResourceSlice> packedSlices;
  private final SharedIndexInformer<GpuQuota> quotas;
  private final SharedIndexInformer<DeviceTaintRule> taintRules;
  private final SharedIndexInformer<DeviceTaintRuleV1Beta2> olderTaintRules;
  private final SharedIndexInformer<PodGroup> podGroups;
  private final Map<Class<?>, OptionalKind> optional =
      Map.of(
          GpuQuota.class,
          OptionalKind.ofOurs(HasMetadata.getFullResourceName(GpuQuota.class),
              "what namespaces may have is not limited"),
          DeviceTaintRule.class,
          OptionalKind.ofKubernetes("devicetaintrules.v1.resource.k8s.io", "1.37",
              "no rules of this version taint cards that this controller allocates"),
          DeviceTaintRuleV1Beta2.class,
          OptionalKind.ofKubernetes("devicetaintrules.v1beta2.resource.k8s.io",
              "1.36 with the feature gate DRADeviceTaintRules and this version in --runtime-config",
              "no rules of this version taint cards that this controller allocates"),
          PodGroup.class,
          OptionalKind.ofKubernetes(HasMetadata.getFullResourceName(PodGroup.class),
              "1.37 with the feature gate GenericWorkload", "only annotations make gangs"));
  private final SharedIndexInformer<Namespace> namespaces;
  private final Object inventoryLock = new Object();
  private Inventory inventory = Inventory.EMPTY;

  /**
   * Prepares the informers; {@link #start} runs them.
   *
   * @param main says which API server; the informers have a client of their own ({@link InformerClient}), which reads
   *        less of each object
   */
  public ClusterView(KubernetesClient main) {
    client = InformerClient.of(main.getConfiguration());
    packedSlices =
        new PackedStore<>(client.getKubernetesSerialization(), ResourceSlice.class, ClusterView::withoutDevices);
    gpuNodes = informer(GpuNode.class, o -> new ClusterEvent.GpuNodeChanged(o.getMetadata().getName()));
    nodes = informer(Node.class, o -> new ClusterEvent.NodeChanged(o.getMetadata().getName()));
    pods =
        informer(Pod.class, new CompactStore<>(PodRequests::dropStatusThatChangesNothing), PAGE,
            o -> new ClusterEvent.PodChanged(ObjectKey.of(o), o.getMetadata().getUid()));
    claims =
        informer(ResourceClaim.class, o -> new ClusterEvent.ClaimChanged(ObjectKey.of(o), o.getMetadata().getUid()));
    templates = informer(ResourceClaimTemplate.class, o -> new ClusterEvent.TemplateChanged(ObjectKey.of(o)));
    classes = informer(DeviceClass.class, o -> new ClusterEvent.ClassChanged(o.getMetadata().getName()));
    slices = informer(ResourceSlice.class, packedSlices, PAGE_OF_SLICES, ClusterView::sliceEvent);
    quotas = informer(GpuQuota.class, o -> new ClusterEvent.QuotaChanged(o.getMetadata().getName()));
    namespaces = informer(Namespace.class, o -> new ClusterEvent.NamespaceChanged(o.getMetadata().getName()));
    taintRules = informer(DeviceTaintRule.class, o -> new ClusterEvent.TaintRuleChanged(o.getMetadata().getName()));
    olderTaintRules =
        informer(DeviceTaintRuleV1Beta2.class, o -> new ClusterEvent.TaintRuleChanged(o.getMetadata().getName()));
    podGroups = informer(PodGroup.class, o -> new ClusterEvent.PodGroupChanged(ObjectKey.of(o)));
    pods.addIndexers(
        Map.of(
            BY_GANG, Indexes::gangsOf,
            BY_CLAIM, Indexes::claimsOf,
            BY_TEMPLATE, Indexes::templatesOf,
            BY_UID, pod -> List.of(pod.getMetadata().getUid())));
    claims.addIndexers(Map.of(BY_NODE, Indexes::nodesOfClaim, BY_OTHER_POOL, Indexes::otherPoolsOf));
    gpuNodes.addIndexers(Map.of(BY_PLUGIN, Indexes::pluginPodOf, BY_OTHER_POOL, Indexes::otherPoolsOf));
    slices.addIndexers(
        Map.of(
            BY_NODE, slice -> isOurs(slice) ? List.of(slice.getSpec().getNodeName()) : List.of(),
            BY_OPEN_NODE,
            slice -> isOurs(slice) && untainted(slice).findAny().isPresent()
                ? List.of(slice.getSpec().getNodeName())
                : List.of(),
            BY_OTHER_NODE, slice -> Indexes.isOthers(slice) ? List.of(slice.getSpec().getNodeName()) : List.of(),
            BY_OTHER_POOL, Indexes::otherPoolOf));
  }

  /** Starts the informers and waits until each has listed once, or its kind is known to be missing where it may be. */
  public void start() {
    var started = informers.stream().map(this::start).toList();
    started.forEach(CompletableFuture::join);
  }

  private CompletableFuture<?> start(SharedIndexInformer<?> informer) {
    CompletableFuture<?> started = informer.start().toCompletableFuture();
    @Nullable OptionalKind kind = optional.get(informer.getApiTypeClass());
    return kind == null ? started : kind.started(started);
  }

  public boolean isWatching() {
    return informers.stream()
        .allMatch(informer -> informer.isWatching() || isMissing(informer));
  }

  private boolean isMissing(SharedIndexInformer<?> informer) {
    @Nullable OptionalKind kind = optional.get(informer.getApiTypeClass());
    return kind != null && kind.isMissing(informer.isWatching());
  }

  /**
   * What keeps it from following the cluster and will not pass by itself: a listener that has not returned for that
   * long, or an informer that ended.
   */
  public Optional<String> problem(Duration most) {
    return heartbeats.stream()
        .flatMap(heartbeat -> heartbeat.stuck(most).stream())
        .findFirst()
        .or(() -> informers.stream().anyMatch(informer -> informer.stopped().toCompletableFuture().isDone())
            ? Optional.of("an informer has ended")
            : Optional.empty());
  }

  public void listen(Consumer<ClusterEvent> listener) {
    listeners.add(listener);
  }

  public void unlisten(Consumer<ClusterEvent> listener) {
    listeners.remove(listener);
  }

  public List<GpuNode> gpuNodes() {
    return gpuNodes.getStore().list();
  }

  public @Nullable GpuNode gpuNode(String name) {
    return gpuNodes.getStore().getByKey(Cache.namespaceKeyFunc("", name));
  }

  /**
   * What is held of one kind.
   *
   * @param bytes of the heap, by estimate
   */
  public record Held(int objects, long bytes) {}

  /** What is held of the cluster, by kind. */
  public SortedMap<String, Held> held() {
    SortedMap<String, Held> held = new TreeMap<>();
    stores.forEach(
        (kind, its) -> held.put(
            kind,
            new Held(its.stream().mapToInt(CompactStore::size).sum(),
                its.stream().mapToLong(CompactStore::bytes).sum())));
    return held;
  }

  /** The node whose GpuNode was written by the pod of that UID; null if there is none. */
  public @Nullable String nodeOfPluginPod(String podUid) {
    return gpuNodes.getIndexer().byIndex(BY_PLUGIN, podUid).stream().findFirst().map(n -> n.getMetadata().getName())
        .orElse(null);
  }

  /** The pod of that UID; null if there is none. */
  @Override
  public @Nullable Pod podByUid(String uid) {
    return pods.getIndexer().byIndex(BY_UID, uid).stream().findFirst().orElse(null);
  }

  /** How many Nodes there are, with cards or without. */
  public int nodeCount() {
    return nodeCount.now();
  }

  public List<Node> nodes() {
    return nodes.getStore().list();
  }

  @Override
  public @Nullable Node node(String name) {
    return nodes.getStore().getByKey(Cache.namespaceKeyFunc("", name));
  }

  public List<Pod> pods() {
    return pods.getStore().list();
  }

  @Override
  public @Nullable Pod pod(ObjectKey key) {
    return pods.getStore().getByKey(Cache.namespaceKeyFunc(key.namespace(), key.name()));
  }

  @Override
  public List<Pod> podsOf(ObjectKey claim) {
    return pods.getIndexer().byIndex(BY_CLAIM, claim.toString());
  }

  @Override
  public List<Pod> podsOfGang(GangKey gang) {
    return pods.getIndexer().byIndex(BY_GANG, gang.toString()).stream()
        .filter(pod -> gangOf(pod).filter(gang::equals).isPresent()).toList();
  }

  /** Pods that name the PodGroup, whatever it is and whether there is one. */
  public List<Pod> podsNaming(GangKey.OfPodGroup group) {
    return pods.getIndexer().byIndex(BY_GANG, group.toString());
  }

  @Override
  public PodGroupPolicy policy(GangKey.OfPodGroup group) {
    @Nullable PodGroup known = podGroups.getStore().getByKey(Cache.namespaceKeyFunc(group.namespace(), group.name()));
    if (known != null) {
      return known.policy();
    }
    return isMissing(podGroups) ? new PodGroupPolicy.NoGang() : new PodGroupPolicy.Missing();
  }

  public List<ResourceClaim> claims() {
    return claims.getStore().list();
  }

  @Override
  public @Nullable ResourceClaim claim(ObjectKey key) {
    return claims.getStore().getByKey(Cache.namespaceKeyFunc(key.namespace(), key.name()));
  }

  public List<ResourceClaimTemplate> templates() {
    return templates.getStore().list();
  }

  public @Nullable ResourceClaimTemplate template(ObjectKey key) {
    return templates.getStore().getByKey(Cache.namespaceKeyFunc(key.namespace(), key.name()));
  }

  /** Pods that name the template, whether they are over or not. */
  public List<Pod> podsOfTemplate(ObjectKey template) {
    return pods.getIndexer().byIndex(BY_TEMPLATE, template.toString());
  }

  @Override
  public List<ResourceClaim> claimsOn(String node) {
    return claims.getIndexer().byIndex(BY_NODE, node);
  }

  /**
   * Waits until the view shows something of an object.
   *
   * @param shown asked again after every change of the object
   * @return false if it is not shown within that time
   */
  public boolean await(ObjectKey object, BooleanSupplier shown, Duration most) throws InterruptedException {
    return changes.await(object, shown, most);
  }

  public List<DeviceClass> deviceClasses() {
    return classes.getStore().list();
  }

  @Override
  public @Nullable DeviceClass deviceClass(String name) {
    return classes.getStore().getByKey(Cache.namespaceKeyFunc("", name));
  }

  public List<GpuQuota> quotas() {
    return quotas.getStore().list();
  }

  public @Nullable GpuQuota quota(String name) {
    return quotas.getStore().getByKey(Cache.namespaceKeyFunc("", name));
  }

  /** Of the newest version that the API server serves. An object is in each version the same. */
  public List<DeviceTaintRule> taintRules() {
    return isMissing(taintRules) ? List.copyOf(olderTaintRules.getStore().list()) : taintRules.getStore().list();
  }

  @Override
  public @Nullable Namespace namespace(String name) {
    return namespaces.getStore().getByKey(Cache.namespaceKeyFunc("", name));
  }

  public List<Namespace> namespaces() {
    return namespaces.getStore().list();
  }

  /**
   * Our driver's slices of that node, unpacked for the caller. Who only asks whether there are any asks
   * {@link #isPublished}.
   */
  public List<ResourceSlice> slices(String node) {
    return slices.getIndexer().indexKeys(BY_NODE, node).stream().map(packedSlices::whole).filter(Objects::nonNull)
        .toList();
  }

  @Override
  public boolean isPublished(String node) {
    return !slices.getIndexer().indexKeys(BY_NODE, node).isEmpty();
  }

  @Override
  public boolean isOfferedToScheduler(String node) {
    return !slices.getIndexer().indexKeys(BY_OPEN_NODE, node).isEmpty();
  }

  /** Nodes for which there are slices of our driver's. */
  public Set<String> publishedNodes() {
    return packedSlices.values().filter(ClusterView::isOurs).map(slice -> slice.getSpec().getNodeName())
        .collect(Collectors.toSet());
  }

  /** The nodes with cards of which other drivers' slices publish the pool, or whose GpuNode still speaks of it. */
  public Set<String> nodesOf(OtherDevice.Pool pool) {
    return Stream.concat(
        slices.getIndexer().byIndex(BY_OTHER_POOL, pool.toString()).stream().map(its -> its.getSpec().getNodeName()),
        gpuNodes.getIndexer().byIndex(BY_OTHER_POOL, pool.toString()).stream().map(its -> its.getMetadata().getName()))
        .filter(node -> gpuNode(node) != null).collect(Collectors.toSet());
  }

  /** Claims that have devices of that pool. */
  public List<ResourceClaim> claimsOf(OtherDevice.Pool pool) {
    return claims.getIndexer().byIndex(BY_OTHER_POOL, pool.toString());
  }

  /** Other drivers' slices of that node of whose pools claims have something, unpacked for the caller. */
  public List<ResourceSlice> claimedOtherSlices(String node) {
    return slices.getIndexer().indexKeys(BY_OTHER_NODE, node).stream()
        .filter(key -> Optional.ofNullable(slices.getStore().getByKey(key)).stream()
            .flatMap(slice -> Indexes.otherPoolOf(slice).stream())
            .anyMatch(pool -> !claims.getIndexer().indexKeys(BY_OTHER_POOL, pool).isEmpty()))
        .map(packedSlices::whole).filter(Objects::nonNull).toList();
  }

  /**
   * Every node's cards, as GpuNodes and DeviceTaintRules say now. All callers get the same objects as long as nothing
   * of substance changes.
   */
  public Inventory inventory() {
    synchronized (inventoryLock) {
      inventory = inventory.refreshed(gpuNodes(), taintRules());
      return inventory;
    }
  }

  @Override
  public void close() {
    informers.forEach(SharedIndexInformer::close);
    client.close();
  }

  private <T extends HasMetadata> SharedIndexInformer<T> informer(
      Class<T> type,
      Function<T, @Nullable ClusterEvent> event) {
    return informer(type, new CompactStore<>(whole -> {}), PAGE, event);
  }

  private <T extends HasMetadata> SharedIndexInformer<T> informer(
      Class<T> type,
      CompactStore<T> store,
      long page,
      Function<T, @Nullable ClusterEvent> event) {
    var resources = client.resources(type);
    SharedIndexInformer<T> informer =
        Namespaced.class.isAssignableFrom(type)
            ? resources.inAnyNamespace().withLimit(page).runnableInformer(0)
            : resources.withLimit(page).runnableInformer(0);
    informer.itemStore(store);
    stores.computeIfAbsent(HasMetadata.getKind(type), kind -> new ArrayList<>()).add(store);
    @Nullable OptionalKind kind = optional.get(type);
    informer.exceptionHandler(
        (started, problem) -> {
          if (kind == null || !kind.markIfMissing(problem)) {
            LOG.warn("{}: {}; trying again", HasMetadata.getFullResourceName(type), problem.getMessage());
          }
          return true;
        });
    if (type == Node.class) {
      informer.addEventHandler(nodeCount); // before those who are told ask for it
    }
    Heartbeat heartbeat = new Heartbeat("the thread that follows " + HasMetadata.getFullResourceName(type));
    if (kind != null) {
      informer.addEventHandler(telling(object -> kind.markServed())); // before those who are told ask for it
    }
    informer.addEventHandler(telling(object -> heartbeat.during(() -> tell(object, event.apply(object)))));
    informers.add(informer);
    heartbeats.add(heartbeat);
    return informer;
  }

  /**
   * Tells of every object that has come, changed or gone; also of one that went and was made anew under its name while
   * nobody watched.
   */
  static <T extends HasMetadata> ResourceEventHandler<T> telling(Consumer<T> told) {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(T object) {
        told.accept(object);
      }

      @Override
      public void onUpdate(T before, T after) {
        if (!Objects.equals(before.getMetadata().getUid(), after.getMetadata().getUid())) {
          told.accept(before);
        }
        told.accept(after);
      }

      @Override
      public void onDelete(T object, boolean unknown) {
        told.accept(object);
      }
    };
  }

  private void tell(HasMetadata object, @Nullable ClusterEvent event) {
    changes.tell(ObjectKey.of(object));
    if (event != null) {
      listeners.forEach(listener -> listener.accept(event));
    }
  }

  private static @Nullable ClusterEvent sliceEvent(ResourceSlice slice) {
    if (isOurs(slice)) {
      return new ClusterEvent.SliceChanged(slice.getSpec().getNodeName());
    }
    return Indexes.isOthers(slice) ? new ClusterEvent.OtherSliceChanged(slice.getSpec().getNodeName()) : null;
  }

  /** Of its devices one name is left at most, of one that has no taint: {@link #isOfferedToScheduler} goes by that. */
  private static void withoutDevices(ResourceSlice slice) {
    slice.getSpec().setDevices(untainted(slice).limit(1)
        .map(device -> new DeviceBuilder().withName(device.getName()).build()).toList());
    slice.getSpec().setSharedCounters(List.of());
  }

  private static Stream<Device> untainted(ResourceSlice slice) {
    return slice.getSpec().getDevices().stream().filter(device -> device.getTaints().isEmpty());
  }

  private static boolean isOurs(ResourceSlice slice) {
    return Driver.NAME.equals(slice.getSpec().getDriver()) && slice.getSpec().getNodeName() != null;
  }
}
