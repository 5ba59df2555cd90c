package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.podOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.Driver;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.resize.GrantedSize;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.NodeResizes;
import dev.partita.api.resize.ShareSize;
import dev.partita.plugin.LoadedClaim.Known;
import dev.partita.plugin.LoadedClaim.Part;
import dev.partita.plugin.LoadedClaim.Way;
import dev.partita.serving.access.FaultyApiServer.Fault;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A random load on a plugin: kubelet, users and whoever breaks things do by chance what they may do at any time; and
 * what must hold meanwhile, and when everything was mended.
 */
final class RandomLoad implements AutoCloseable {
  static final int CARDS = 3;

  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int MANY = 9;
  private static final List<Fault> FAULTS = List.of(Fault.NOT_FOUND, Fault.CONFLICT, Fault.TOO_MANY, Fault.BROKEN,
      Fault.ANSWER_LOST, Fault.LATE, Fault.LATE);

  private final TestNode node;
  private final Random random;
  private final Random chance; // of what the API server does, in its own threads
  private final FaultyApi server = new FaultyApi();
  private final PlayedKubelet kubelet;
  private final RandomClaims wanted;
  private final List<LoadedClaim> claims = new ArrayList<>();
  private final Map<String, Integer> done = new TreeMap<>();
  private final List<String> story = new ArrayList<>();
  private final RandomFaults faults;
  private final long began = System.nanoTime();
  private final PlayedPlugins plugins;
  private final NodeDriver driver;
  private final Set<String> denied = ConcurrentHashMap.newKeySet(); // paths of what the API server had and denied
  private final Map<Integer, String> cards = new TreeMap<>(); // UUIDs by their indices
  private long memoryOfCard;
  private int number; // of the last claim that was made
  private int pods;

  RandomLoad(TestNode node, long seed) {
    this.node = node;
    this.random = new Random(seed);
    this.chance = new Random(~seed);
    this.faults = new RandomFaults(node, random, this::did);
    this.plugins = new PlayedPlugins(node, server.ofPlugin, chance);
    this.driver = new NodeDriver(node);
    this.wanted = new RandomClaims(node, random);
    this.kubelet = new PlayedKubelet(plugins::socket);
  }

  /** What was done and what there is, for whoever reads of a failure. */
  @Override
  public String toString() {
    StringBuilder words = new StringBuilder(done.toString());
    story.forEach(step -> words.append("\n").append(step));
    claims.forEach(claim -> words.append("\nclaim ").append(claim));
    words.append("\nnode ").append(NodeTraces.of(node)).append(NodeTraces.promised(node));
    return words.toString();
  }

  void begin() throws IOException {
    plugins.start();
    List<Gpu> gpus = api().statusWhen(node.name, status -> status.gpus().size() == CARDS).gpus();
    memoryOfCard = gpus.getFirst().memoryBytes();
    gpus.forEach(gpu -> cards.put(gpu.index(), gpu.uuid()));
  }

  private void did(String what, Object detail) {
    done.merge(what, 1, Integer::sum);
    story.add(story.size() + " at " + (System.nanoTime() - began) / 1_000_000 + " ms: " + what + " " + detail);
  }

  void step() throws IOException, InterruptedException {
    int what = random.nextInt(claims.size() > MANY ? 18 : 0, 100);
    if (what < 18) {
      makeClaim("c" + ++number);
    } else if (what < 42) {
      List<LoadedClaim> some = some(3, this::mayBeAskedFor);
      did("prepare", some);
      kubelet.prepare(some);
    } else if (what < 56) {
      List<LoadedClaim> some = some(2, LoadedClaim::mayBeOnNode);
      did("release", some);
      kubelet.release(some);
    } else if (what < 63) {
      some(1, one -> !one.gone && !one.mayBeOnNode()).forEach(this::delete);
    } else if (what < 67) {
      some(1, one -> !one.gone).forEach(this::deleteUnderWay);
    } else if (what < 70) {
      some(1, one -> one.known == Known.PREPARED && !one.gone && one.parts.size() == 1
          && one.parts.getFirst().way() == Way.SHARE).forEach(this::resize);
    } else if (what < 76) {
      did("restart", "");
      plugins.end();
      plugins.start();
    } else if (what < 81) {
      List<LoadedClaim> asked = some(2, this::mayBeAskedFor);
      List<LoadedClaim> released = some(2, one -> one.mayBeOnNode() && !asked.contains(one));
      did("restart during calls", asked + " and release " + released);
      kubelet.askWhile(asked, released, plugins::end);
      plugins.start();
    } else if (what < 85) {
      damageARecord();
    } else if (what < 89) {
      faults.wipe();
    } else if (what < 91) {
      faults.breakOrHeal();
    } else if (what < 93) {
      faults.killAnMpsDaemon();
    } else if (what < 95) {
      updateThePlugin();
    } else if (what < 96) {
      faults.slowDriver();
    } else if (what < 97) {
      changeTheNode();
    } else if (what < 98) {
      faults.driverGoesOrComes();
    } else {
      failSomeRequests();
    }
  }

  /** A rolling update has the old and the new one on the node for a while. */
  private void updateThePlugin() throws IOException, InterruptedException {
    if (plugins.isOneBeside()) {
      boolean byKill = random.nextBoolean();
      did(byKill ? "kill the plugin beside" : "end the plugin beside", "");
      plugins.endBeside(byKill);
    } else {
      did("start a plugin beside", "");
      plugins.startBeside();
    }
  }

  private boolean mayBeAskedFor(LoadedClaim wanted) {
    return wanted.known != Known.ASKED_TO_RELEASE && LoadedClaim.fit(wanted,
        claims.stream().filter(one -> one.damaged).toList(), memoryOfCard);
  }

  private List<LoadedClaim> some(int most, Predicate<LoadedClaim> which) {
    List<LoadedClaim> all = new ArrayList<>(claims.stream().filter(which).toList());
    Collections.shuffle(all, random);
    return List.copyOf(all.subList(0, Math.min(all.size(), 1 + random.nextInt(most))));
  }

  private void makeClaim(String name) {
    LoadedClaim made = wanted.next(name);
    did("claim", name + " " + made.parts + (made.grows ? " grows" : ""));
    if (random.nextInt(3) > 0) {
      made.claim.getStatus().setReservedFor(consumers(name));
    }
    claims.add(made.in(api().created(made.claim)));
  }

  /** Pods that use the claim, some of them together with another claim; one that nobody finds any more is deleted. */
  private List<ResourceClaimConsumerReference> consumers(String claim) {
    List<ResourceClaimConsumerReference> consumers = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      List<String> used = new ArrayList<>(List.of(claim));
      some(1, one -> !one.gone).forEach(other -> used.add(other.claim.getMetadata().getName()));
      Pod pod = server.client.resource(podOf("p" + ++pods, used)).create();
      consumers.add(new ResourceClaimConsumerReference("", "p" + pods, "pods", pod.getMetadata().getUid()));
      if (random.nextInt(4) == 0) {
        server.client.resource(pod).delete();
      }
    }
    return consumers;
  }

  private void delete(LoadedClaim one) {
    did("delete", one);
    server.client.resource(one.claim).delete();
    one.gone = true;
    if (!one.mayBeOnNode()) {
      claims.remove(one);
    }
  }

  /** As a pod that is deleted by force leaves it; sometimes the next claim has the same name. */
  private void deleteUnderWay(LoadedClaim one) {
    delete(one);
    if (random.nextBoolean()) {
      makeClaim(one.claim.getMetadata().getName());
    }
  }

  /** What the controller does, which counts the larger size meanwhile. */
  private void resize(LoadedClaim one) {
    long before = one.granted;
    one.granted = wanted.bytes();
    if (!LoadedClaim.fit(one, claims.stream().filter(LoadedClaim::mayBeOnNode).toList(), memoryOfCard)) {
      one.granted = before;
      return;
    }
    did("resize", one);
    String granted = new GrantedSizes(Map.of(shareId(one), new ShareSize(one.granted, 0))).toString();
    untilDone(() -> server.client.resources(ResourceClaim.class).inNamespace("default")
        .withName(one.claim.getMetadata().getName()).edit(read -> new ResourceClaimBuilder(read).editMetadata()
            .addToAnnotations(Driver.GRANTED_SIZES_ANNOTATION, granted).endMetadata().build()));
    tellSizes();
  }

  private static String shareId(LoadedClaim one) {
    return one.claim.getStatus().getAllocation().getDevices().getResults().getFirst().getShareID();
  }

  private void tellSizes() {
    List<GrantedSize> sizes = claims.stream().filter(one -> one.granted != 0 && !one.gone)
        .map(
            one -> new GrantedSize(one.uid(), GrantedSizes.key(shareId(one)), new ShareSize(one.granted, 0).toString()))
        .toList();
    untilDone(() -> gpuNode().editStatus(its -> {
      its.setStatus(its.getStatus().withResizes(new NodeResizes(sizes, its.getStatus().askedSizes())));
      return its;
    }));
  }

  /** The plugin may write the object at the same time. */
  private static void untilDone(Supplier<? extends HasMetadata> write) {
    await().atMost(SOON).ignoreExceptions().until(() -> write.get() != null);
  }

  private Resource<GpuNode> gpuNode() {
    return server.client.resources(GpuNode.class).withName(node.name);
  }

  private void changeTheNode() {
    Quantity reserved = new Quantity(random.nextInt(3) + "Gi");
    did("node reserves", reserved);
    untilDone(() -> gpuNode().edit(its -> {
      its.setSpec(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), reserved));
      return its;
    }));
  }

  private void damageARecord() {
    for (LoadedClaim one : some(1, one -> one.known == Known.PREPARED && !one.gone)) {
      if (claims.stream().noneMatch(other -> other.known == Known.ASKED_TO_PREPARE)) {
        faults.truncateRecord(one);
      }
    }
  }

  private void failSomeRequests() {
    int share = random.nextInt(4) == 0 ? 0 : 5 + random.nextInt(40);
    did("failing requests", share + "%");
    server.fail(request -> {
      boolean isWatch = request.getPath().contains("watch=true");
      Fault fault = FAULTS.get(chance.nextInt(FAULTS.size()));
      return isWatch || chance.nextInt(100) >= share || (fault == Fault.NOT_FOUND && !mayBeDenied(request))
          ? Fault.NONE
          : fault;
    });
  }

  /** Each object is denied once until everything is mended: what is denied for the whole grace is released. */
  private boolean mayBeDenied(RecordedRequest request) {
    return "GET".equals(request.getMethod()) && !request.getPath().contains("?") && denied.add(request.getPath());
  }

  /** What holds at any time. */
  void check() {
    stablyPromised().forEach((card, bytes) -> assertThat(bytes).as("promised of " + card)
        .isLessThanOrEqualTo(memoryOfCard));
    List<LoadedClaim> prepared = claims.stream().filter(one -> one.known == Known.PREPARED && !one.gone).toList();
    assertThat(prepared).allSatisfy(
        one -> assertThat(LoadedClaim.fit(one, prepared, Long.MAX_VALUE)).as("%s beside %s", one, prepared).isTrue());
  }

  /** What one share was lent another one may be lent while the files are read. */
  private Map<String, Long> stablyPromised() {
    Map<String, Long> before = NodeTraces.promised(node);
    while (true) {
      Map<String, Long> now = NodeTraces.promised(node);
      if (now.equals(before)) {
        return now;
      }
      before = now;
    }
  }

  /** Everything that was broken is mended, kubelet asks again, and then all is as it was told. */
  void rest() throws IOException, InterruptedException {
    did("rest", "");
    server.fail(request -> Fault.NONE);
    faults.mend();
    tellSizes();
    plugins.start();
    plugins.endBeside(false);
    for (LoadedClaim one : List.copyOf(claims)) {
      if (one.known == Known.ASKED_TO_RELEASE || (one.gone && random.nextBoolean() && one.mayBeOnNode())) {
        await("release of " + one).atMost(SOON).until(() -> kubelet.release(one), String::isEmpty);
      }
    }
    claims.removeIf(one -> one.gone); // kubelet has forgotten what it has not released
    await("what is gone").atMost(SOON).untilAsserted(
        () -> assertThat(claims.stream().map(LoadedClaim::uid).toList())
            .containsAll(NodeTraces.of(node).folders().keySet()));
    for (LoadedClaim one : claims) {
      boolean hasToBeTold = random.nextBoolean() || !denied.isEmpty(); // a status is not written where a claim is gone
      if (one.known == Known.ASKED_TO_PREPARE || (one.known == Known.PREPARED && hasToBeTold)) {
        askAgain(one);
      }
    }
    for (LoadedClaim one : claims) {
      if (one.known == Known.RELEASED) {
        askAgain(one);
      }
    }
    denied.clear();
    claims.forEach(one -> one.damaged = false);
    await("all as it was told").atMost(SOON).untilAsserted(this::allIsAsTold);
  }

  private void askAgain(LoadedClaim one) {
    List<LoadedClaim> there = claims.stream().filter(LoadedClaim::mayBeOnNode).toList();
    boolean surelyThere = one.known == Known.PREPARED;
    boolean fits = LoadedClaim.fit(one, there, memoryOfCard);
    if (fits || surelyThere) {
      String[] last = {""};
      try {
        await().atMost(SOON).until(() -> last[0] = kubelet.prepare(one), String::isEmpty);
      } catch (ConditionTimeoutException e) {
        throw new AssertionError(one + " is refused: " + last[0], e);
      }
      return;
    }
    String refusal = kubelet.prepare(one);
    if (!refusal.isEmpty()) {
      assertThat(refusal).as("of %s", one).isNotBlank();
      await("release of " + one).atMost(SOON).until(() -> kubelet.release(one), String::isEmpty);
    }
  }

  private void allIsAsTold() throws IOException {
    Map<String, TreeSet<String>> told = new TreeMap<>();
    for (LoadedClaim one : claims) {
      if (one.known == Known.PREPARED) {
        told.put(one.uid(), new TreeSet<>(
            one.parts.getFirst().way().isByMemory() ? NodeTraces.OF_SHARE : NodeTraces.OF_CARD));
      }
    }
    assertThat(NodeTraces.of(node).folders()).isEqualTo(told);
    driverIsAsTold();
    Optional.ofNullable(api().gpuNode(node.name).getStatus()).ifPresent(status -> {
      assertThat(status.held()).isEmpty();
      assertThat(status.gpus()).allSatisfy(gpu -> assertThat(
          gpu.health().state() == GpuHealth.State.Healthy || faults.wasOftenBroken(gpu.index()))
          .as("health of %s", gpu).isTrue());
    });
    for (LoadedClaim one : claims) {
      if (one.known == Known.PREPARED) {
        assertThat(api().stored(one.claim.getMetadata().getName()).getStatus().getDevices()).as("status of %s", one)
            .hasSameSizeAs(one.parts);
        if (one.parts.getFirst().way().isByMemory()) {
          if (one.grows) {
            assertThat(NodeTraces.memory(node.quota(one.claim))).as("size of %s", one)
                .isGreaterThanOrEqualTo(one.size());
          } else {
            assertThat(node.quota(one.claim)).as("size of %s", one).contains("\nmemory " + one.size() + "\n");
          }
        }
      }
    }
  }

  private void driverIsAsTold() throws IOException {
    Map<Integer, TreeSet<String>> instances = new TreeMap<>();
    Map<String, Integer> slices = new TreeMap<>();
    Map<String, Long> mps = new TreeMap<>(); // the most that a claim has
    TreeSet<String> toTakeBack = new TreeSet<>();
    cards.values().forEach(card -> slices.put(card, 0));
    for (LoadedClaim one : claims) {
      if (one.known == Known.PREPARED
          && Set.of(Way.INSTANCE, Way.TURN, Way.MPS).contains(one.parts.getFirst().way())) {
        toTakeBack.add(one.uid());
      }
      for (Part part : one.known == Known.PREPARED ? one.parts : List.<Part>of()) {
        String card = cards.get(part.card());
        switch (part.way()) {
          case INSTANCE -> instances.computeIfAbsent(part.card(), _ -> new TreeSet<>()).add(part.slot());
          case TURN -> slices.put(card, TimeSlice.SHORT.number());
          case MPS -> mps.merge(card, part.memory(), Math::max);
          case SHARE, WHOLE -> {}
        }
      }
    }
    assertThat(driver.instances()).as("MIG instances").isEqualTo(instances);
    assertThat(NodeTraces.noted(node)).as("claims of which a note is there").isEqualTo(toTakeBack);
    for (Map.Entry<String, Integer> slice : slices.entrySet()) {
      assertThat(driver.timeSlice(slice.getKey())).as("time slice of %s", slice).isEqualTo(slice.getValue());
    }
    assertThat(driver.mpsFolders()).as("cards with an MPS daemon").isEqualTo(new TreeSet<>(mps.keySet()));
    assertThat(driver.mpsDaemons()).as("MPS daemons").hasSameSizeAs(mps.keySet());
    for (Map.Entry<String, Long> its : mps.entrySet()) {
      assertThat(driver.mpsDaemon(its.getKey())).as("daemon of %s", its).isPresent();
      assertThat(driver.tellMps(its.getKey(), "get_default_device_pinned_mem_limit 0")).as("bound of %s", its)
          .isEqualTo((its.getValue() >> 20) + "M");
    }
  }

  /** All is released, and nothing is left. */
  void end() throws IOException, InterruptedException {
    rest();
    for (LoadedClaim one : claims) {
      await("release of " + one).atMost(SOON).until(() -> kubelet.release(one), String::isEmpty);
    }
    await("nothing is left").atMost(SOON).untilAsserted(
        () -> {
          assertThat(NodeTraces.of(node).folders()).isEmpty();
          assertThat(NodeTraces.pods(node)).isEmpty();
        });
    claims.clear();
    driverIsAsTold();
    plugins.end();
    assertThat(plugins.leftOpen()).as("files of the node that are open after the end of each plugin").containsOnly(0);
  }

  private TestApi api() {
    return new TestApi(server.client);
  }

  @Override
  public void close() {
    plugins.close();
    driver.mpsDaemons().forEach(ProcessHandle::destroyForcibly);
    server.close();
  }
}
