package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest.Toleration;
import dev.partita.controller.request.DeviceRequest;
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
   * Nodes of one to eight cards; of some MIG instances can be made, some offer more memory than they have, and some
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
    Integer allocated = random.nextInt(4) == 0 ? 101 + random.nextInt(200) : Integer.valueOf(100);
    List<PublishedMode> modes = mig ? MODES.get(random.nextInt(MODES.size())) : List.of();
    return GpuNodes.ready(name, new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, modes, reserved, allocated), gpus);
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
      List<NamedRequest> requests = new ArrayList<>();
      int asked = 1 + random.nextInt(2);
      for (int r = 0; r < asked; r++) {
        List<DeviceRequest> alternatives = new ArrayList<>();
        int choices = random.nextInt(4) == 0 ? 2 + random.nextInt(2) : 1;
        for (int a = 0; a < choices; a++) {
          DeviceRequest request = request(choices == 1 ? "r" + r : "r" + r + "/a" + a);
          alternatives.add(monitors || random.nextInt(30) == 0 ? Requests.monitor(request) : request);
        }
        requests.add(new NamedRequest("r" + r, alternatives));
      }
      claims.add(
          new ClaimRequest(new ClaimRef("default", name + "c" + c, "uid-" + name + "c" + c), requests, constraints()));
    }
    return claims;
  }

  private DeviceRequest request(String name) {
    DeviceRequest request =
        switch (random.nextInt(18)) {
          case 16 -> Requests.byMps(Requests.share(name, "h200", 1 + random.nextLong(70 * GIB)));
          case 17 -> Requests.byMps(Requests.percent(name, 1, 1 + random.nextInt(100), random.nextInt(60)));
          case 14 -> Requests.turns(name, 1 + random.nextInt(2));
          case 15 -> turns(name);
          case 0 -> Requests.whole(name, 1 + random.nextInt(2));
          case 1 -> Requests.share(name, "h200", 1 + random.nextLong(70 * GIB));
          case 2, 3 -> Requests.percent(name, 1 + random.nextInt(2), 1 + random.nextInt(100), random.nextInt(60));
          case 4, 5, 6 -> instances(name, 1 + random.nextInt(3));
          case 7 -> Requests.request(name, List.of(Requests.mode(DeviceMode.MIG)), new Count.Exactly(1),
              OptionalLong.of(1 + random.nextLong(40 * GIB)), OptionalLong.empty());
          case 8 ->
              Requests.request(name, List.of(Requests.model("h200")), new Count.Exactly(1), anyMemory(),
                  OptionalLong.empty());
          case 9 -> unlikely(name);
          case 10 -> Requests.share(name, 1, nearlyPart(), 5L * random.nextInt(21));
          default -> Requests.share(name, 1 + random.nextInt(3), 1 + random.nextLong(20 * GIB), random.nextInt(60));
        };
    return placed(tolerating(random.nextInt(15) == 0 ? Requests.oversubscribed(request, 150) : request));
  }

  /** Cards in turn of a class that has them in several modes, at times with amounts that cannot be had so. */
  private DeviceRequest turns(String name) {
    DeviceRequest any = Requests.request(name, random.nextBoolean() ? List.of() : List.of(Requests.model("h200")),
        random.nextInt(4) == 0 ? new Count.All() : new Count.Exactly(1),
        random.nextInt(4) == 0 ? OptionalLong.of(GIB) : OptionalLong.empty(),
        random.nextInt(4) == 0 ? OptionalLong.of(10) : OptionalLong.empty());
    return Requests.sharing(any, new Sharing.TimeSlicing(TimeSlice.LONG));
  }

  private DeviceRequest instances(String name, int count) {
    Selector profile = new Selector("request",
        "device.attributes[\"gpu.partita.dev\"].profile == \"" + profiles.get(random.nextInt(profiles.size())) + "\"");
    return Requests.request(name, List.of(Requests.mode(DeviceMode.MIG), profile), new Count.Exactly(count),
        OptionalLong.empty(),
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
  private DeviceRequest unlikely(String name) {
    DeviceMode mode = List.of(DeviceMode.WHOLE, DeviceMode.SHARED, DeviceMode.MIG).get(random.nextInt(3));
    return switch (random.nextInt(4)) {
      case 0 -> Requests.request(name, List.of(Requests.mode(mode)), new Count.All(),
          random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(GIB), OptionalLong.empty());
      case 1 -> Requests.request(name, List.of(Requests.mode(mode)), new Count.Exactly(1), anyMemory(),
          OptionalLong.of(random.nextInt(120)));
      case 2 -> Requests.share(name, 1, 300 * GIB, 0);
      default -> random.nextBoolean()
          ? Requests.all(instances(name, 1))
          : Requests
              .monitor(Requests.all(Requests.request(name, List.of(Requests.mode(DeviceMode.MIG)), new Count.Exactly(1),
                  OptionalLong.empty(), OptionalLong.empty())));
    };
  }

  /** Now and then it puts up with cards that are ill. */
  private DeviceRequest tolerating(DeviceRequest request) {
    Optional<String> key = Optional.of("gpu.partita.dev/unhealthy");
    Optional<String> any = Optional.empty();
    return switch (random.nextInt(16)) {
      case 0 -> Requests.tolerating(request, new Toleration(any, any, any));
      case 1 -> Requests.tolerating(request, new Toleration(key, Optional.of("XID-79"), any));
      case 2 -> Requests.tolerating(request, new Toleration(key, any, Optional.of("NoExecute")));
      case 3 -> Requests.tolerating(request, new Toleration(Optional.of("example.com/other"), any, any),
          new Toleration(key, any, Optional.of("NoSchedule")));
      case 4 -> Requests.tolerating(request, new Toleration(key, Optional.of(""), any));
      default -> request;
    };
  }

  /** Now and then it cares about which card it is on, and with whom. */
  private DeviceRequest placed(DeviceRequest request) {
    return switch (random.nextInt(14)) {
      case 0 -> Requests.on(request, Requests.choose("a100", "h200"), Choice.ANY);
      case 1 -> Requests.on(request, Requests.avoid("t4"), Requests.avoid("GPU-node-0-0", "GPU-node-1-1"));
      case 2 -> Requests.on(request, Choice.ANY, Requests.choose("GPU-node-0-0", "GPU-node-0-1", "GPU-node-2-0"));
      case 3, 4 -> request.memory().isSaid() ? Requests.alone(request) : request;
      case 5 -> Requests.placed(request, request.placement().packed(Packing.SPREAD, Packing.SPREAD));
      default -> request;
    };
  }

  private List<Constraint> constraints() {
    List<Constraint> constraints = new ArrayList<>();
    if (random.nextInt(4) == 0) {
      constraints.add(new Constraint.Equal("resource.kubernetes.io/numaNode", about()));
    }
    if (random.nextInt(8) == 0) {
      constraints.add(new Constraint.Distinct(
          random.nextBoolean() ? "gpu.partita.dev/nvlinkDomain" : "gpu.partita.dev/uuid", about()));
    }
    if (random.nextInt(12) == 0) {
      constraints.add(
          new Constraint.Equal(random.nextBoolean() ? "gpu.partita.dev/profile" : "gpu.partita.dev/model", about()));
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
