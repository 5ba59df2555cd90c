package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.MigProfile;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.ClaimRequest.RequestAsk;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceAsk;
import dev.partita.controller.request.DeviceAsk.Count;
import dev.partita.controller.request.DeviceAsk.Selector;
import dev.partita.controller.request.DeviceAsk.Toleration;
import dev.partita.controller.request.PodNeeds;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/** Random clusters, what happens to them, and the pods that come. */
final class RandomStream {
  private static final long GIB = GpuNodes.GIB;
  private static final String[] PRODUCTS = {"NVIDIA H200", "NVIDIA A100", "Tesla T4"};
  private static final long[] MEMORY = {140, 80, 16};
  private static final List<List<PublishedMode>> MODES =
      List.of(List.of(PublishedMode.values()), List.of(PublishedMode.values()), List.of(PublishedMode.Mig),
          List.of(PublishedMode.Shared, PublishedMode.Mig));
  private static final List<String> REASONS = List.of("XID 79", "GpuIsLost");

  private final Random random;
  private final List<MigProfile> ofA100;
  private final List<String> profiles = new ArrayList<>();

  RandomStream(Random random) {
    this.random = random;
    this.ofA100 = anyProfiles();
    GpuNodes.h200Profiles().forEach(profile -> profiles.add(profile.name()));
    ofA100.forEach(profile -> profiles.add(profile.name()));
  }

  /**
   * Nodes of one to eight cards; of some MIG instances can be made, some sell more memory than they have, and some
   * cards are unhealthy.
   */
  List<GpuNode> cluster(int most) {
    List<GpuNode> nodes = new ArrayList<>();
    int count = 1 + random.nextInt(most);
    for (int i = 0; i < count; i++) {
      nodes.add(node("node-" + i));
    }
    return nodes;
  }

  GpuNode node(String name) {
    int product = random.nextInt(PRODUCTS.length);
    boolean mig = product < 2 && random.nextBoolean();
    List<Gpu> gpus = new ArrayList<>();
    for (Gpu gpu : GpuNodes.cards(name, 1 + random.nextInt(mig ? 3 : 8), PRODUCTS[product], MEMORY[product] * GIB)) {
      Gpu its = mig ? gpu.withMigProfiles(product == 0 ? GpuNodes.h200Profiles() : ofA100) : gpu;
      gpus.add(random.nextInt(10) == 0 ? its.withHealth(unhealthy()) : its);
    }
    Quantity reserved = new Quantity(random.nextInt(4) == 0 ? "1500Mi" : "0");
    Integer sold = random.nextInt(4) == 0 ? 101 + random.nextInt(200) : Integer.valueOf(100);
    List<PublishedMode> modes = mig ? MODES.get(random.nextInt(MODES.size())) : List.of();
    return GpuNodes.ready(name, new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, modes, reserved, sold), gpus);
  }

  /** The node when one of its cards has fallen ill, or is well again: most are well most of the time. */
  GpuNode otherHealth(GpuNode node) {
    List<Gpu> gpus = new ArrayList<>(Objects.requireNonNull(node.getStatus()).gpus());
    List<Gpu> ill = gpus.stream().filter(gpu -> gpu.health().state() == GpuHealth.State.Unhealthy).toList();
    boolean heals = !ill.isEmpty() && random.nextInt(4) > 0;
    Gpu one = heals ? ill.get(random.nextInt(ill.size())) : gpus.get(random.nextInt(gpus.size()));
    gpus.replaceAll(gpu -> gpu.equals(one) ? gpu.withHealth(heals ? GpuHealth.HEALTHY : unhealthy()) : gpu);
    return GpuNodes.ready(node.getMetadata().getName(), node.getSpec(), gpus);
  }

  private GpuHealth unhealthy() {
    return GpuHealth.unhealthy(REASONS.get(random.nextInt(REASONS.size())), "it is ill");
  }

  /** Profiles such as no card has: a scheme that holds for NVIDIA's only by chance shows. */
  private List<MigProfile> anyProfiles() {
    List<MigProfile> profilesOfCard = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int size = 1 + random.nextInt(4);
      List<MigProfile.Placement> places = new ArrayList<>();
      for (int start = 0; start + size <= 8; start++) {
        if (places.isEmpty() || random.nextBoolean()) {
          places.add(new MigProfile.Placement(start, size));
        }
      }
      profilesOfCard.add(new MigProfile((i + 1) + "g.10gb", (8L + random.nextInt(20)) * GIB, 14, i + 1,
          1 + random.nextInt(places.size()), places));
    }
    return profilesOfCard;
  }

  HostCapacities.Capacity room(boolean limited) {
    PodNeeds total = new PodNeeds(32_000, 64 * GIB);
    return limited
        ? new HostCapacities.Capacity(new PodNeeds(random.nextInt(32_001), random.nextLong(64 * GIB)), total)
        : HostCapacities.Capacity.ENDLESS;
  }

  /** What a pod asks for, under names that no other pod of the stream has. */
  List<ClaimRequest> pod(String name) {
    boolean monitors = random.nextInt(8) == 0;
    List<ClaimRequest> claims = new ArrayList<>();
    int count = 1 + random.nextInt(2);
    for (int c = 0; c < count; c++) {
      List<RequestAsk> requests = new ArrayList<>();
      int asked = 1 + random.nextInt(2);
      for (int r = 0; r < asked; r++) {
        List<DeviceAsk> alternatives = new ArrayList<>();
        int choices = random.nextInt(4) == 0 ? 2 + random.nextInt(2) : 1;
        for (int a = 0; a < choices; a++) {
          DeviceAsk ask = ask(choices == 1 ? "r" + r : "r" + r + "/a" + a);
          alternatives.add(monitors || random.nextInt(30) == 0 ? Asks.monitor(ask) : ask);
        }
        requests.add(new RequestAsk("r" + r, alternatives));
      }
      claims.add(
          new ClaimRequest(new ClaimRef("default", name + "c" + c, "uid-" + name + "c" + c), requests, constraints()));
    }
    return claims;
  }

  private DeviceAsk ask(String name) {
    DeviceAsk ask =
        switch (random.nextInt(14)) {
          case 0 -> Asks.whole(name, 1 + random.nextInt(2));
          case 1 -> Asks.share(name, "h200", 1 + random.nextLong(70 * GIB));
          case 2, 3 -> Asks.percent(name, 1 + random.nextInt(2), 1 + random.nextInt(100), random.nextInt(60));
          case 4, 5, 6 -> instances(name, 1 + random.nextInt(3));
          case 7 -> Asks.ask(name, List.of(Asks.mode(DeviceMode.MIG)), new Count.Exactly(1),
              OptionalLong.of(1 + random.nextLong(40 * GIB)), OptionalLong.empty());
          case 8 ->
              Asks.ask(name, List.of(Asks.model("h200")), new Count.Exactly(1), anyMemory(), OptionalLong.empty());
          case 9 -> unlikely(name);
          case 10 -> Asks.share(name, 1, nearlyPart(), 5L * random.nextInt(21));
          default -> Asks.share(name, 1 + random.nextInt(3), 1 + random.nextLong(20 * GIB), random.nextInt(60));
        };
    return placed(tolerating(random.nextInt(15) == 0 ? Asks.oversubscribed(ask, 150) : ask));
  }

  private DeviceAsk instances(String name, int count) {
    Selector profile = new Selector("request",
        "device.attributes[\"gpu.partita.dev\"].profile == \"" + profiles.get(random.nextInt(profiles.size())) + "\"");
    return Asks.ask(name, List.of(Asks.mode(DeviceMode.MIG), profile), new Count.Exactly(count), OptionalLong.empty(),
        OptionalLong.empty());
  }

  private OptionalLong anyMemory() {
    return random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(1 + random.nextLong(150 * GIB));
  }

  /** To the byte what several of make a card, or one more or less. */
  private long nearlyPart() {
    long card = MEMORY[random.nextInt(MEMORY.length)] * GIB;
    return card / (1 + random.nextInt(4)) + random.nextInt(3) - 1;
  }

  /** What few can serve, or nobody. */
  private DeviceAsk unlikely(String name) {
    DeviceMode mode = List.of(DeviceMode.WHOLE, DeviceMode.SHARED, DeviceMode.MIG).get(random.nextInt(3));
    return switch (random.nextInt(4)) {
      case 0 -> Asks.ask(name, List.of(Asks.mode(mode)), new Count.All(),
          random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(GIB), OptionalLong.empty());
      case 1 -> Asks.ask(name, List.of(Asks.mode(mode)), new Count.Exactly(1), anyMemory(),
          OptionalLong.of(random.nextInt(120)));
      case 2 -> Asks.share(name, 1, 300 * GIB, 0);
      default -> random.nextBoolean()
          ? Asks.all(instances(name, 1))
          : Asks.monitor(Asks.all(Asks.ask(name, List.of(Asks.mode(DeviceMode.MIG)), new Count.Exactly(1),
              OptionalLong.empty(), OptionalLong.empty())));
    };
  }

  /** Now and then it puts up with cards that are ill. */
  private DeviceAsk tolerating(DeviceAsk ask) {
    Optional<String> key = Optional.of("gpu.partita.dev/unhealthy");
    Optional<String> any = Optional.empty();
    return switch (random.nextInt(16)) {
      case 0 -> Asks.tolerating(ask, new Toleration(any, any, any));
      case 1 -> Asks.tolerating(ask, new Toleration(key, Optional.of("XID-79"), any));
      case 2 -> Asks.tolerating(ask, new Toleration(key, any, Optional.of("NoExecute")));
      case 3 -> Asks.tolerating(ask, new Toleration(Optional.of("example.com/other"), any, any),
          new Toleration(key, any, Optional.of("NoSchedule")));
      case 4 -> Asks.tolerating(ask, new Toleration(key, Optional.of(""), any));
      default -> ask;
    };
  }

  /** Now and then it cares about which card it is on, and with whom. */
  private DeviceAsk placed(DeviceAsk ask) {
    return switch (random.nextInt(14)) {
      case 0 -> Asks.on(ask, Asks.choose("a100", "h200"), Choice.ANY);
      case 1 -> Asks.on(ask, Asks.avoid("t4"), Asks.avoid("GPU-node-0-0", "GPU-node-1-1"));
      case 2 -> Asks.on(ask, Choice.ANY, Asks.choose("GPU-node-0-0", "GPU-node-0-1", "GPU-node-2-0"));
      case 3, 4 -> ask.memory().isSaid() ? Asks.alone(ask) : ask;
      case 5 -> Asks.placed(ask, ask.placement().packed(Packing.SPREAD, Packing.SPREAD));
      default -> ask;
    };
  }

  private List<Constraint> constraints() {
    List<Constraint> constraints = new ArrayList<>();
    if (random.nextInt(4) == 0) {
      constraints.add(new Constraint.Match("resource.kubernetes.io/numaNode", about()));
    }
    if (random.nextInt(8) == 0) {
      constraints.add(new Constraint.Distinct(
          random.nextBoolean() ? "gpu.partita.dev/nvlinkDomain" : "gpu.partita.dev/uuid", about()));
    }
    if (random.nextInt(12) == 0) {
      constraints.add(
          new Constraint.Match(random.nextBoolean() ? "gpu.partita.dev/profile" : "gpu.partita.dev/model", about()));
    }
    return constraints;
  }

  private List<String> about() {
    return switch (random.nextInt(5)) {
      case 0 -> List.of("r0");
      case 1 -> List.of("r0/a1", "r1");
      case 2 -> List.of("r0/a0", "r1");
      default -> List.of();
    };
  }
}
