package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.byMps;
import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.config;
import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.timeSlicing;
import static dev.partita.plugin.TestClaims.whole;

import dev.partita.api.Driver;
import dev.partita.plugin.LoadedClaim.Part;
import dev.partita.plugin.LoadedClaim.Way;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Makes allocated claims by chance, which have one card or two, each in the same way. */
final class RandomClaims {
  private static final long GIB = 1L << 30;
  private static final List<Way> WAYS =
      List.of(Way.SHARE, Way.SHARE, Way.SHARE, Way.WHOLE, Way.TURN, Way.INSTANCE, Way.MPS, Way.MPS);
  private static final List<String> SLOTS = List.of("1g-18gb-0", "1g-18gb-2", "1g-18gb-6", "2g-35gb-4");

  private static final DeviceAllocationConfiguration UP_TO_MOST = config("FromClaim", List.of(),
      Map.of("apiVersion", Driver.GROUP_VERSION, "kind", "GpuShareConfig", "memoryLimit", "130Gi"));

  private final TestNode node;
  private final Random random;

  RandomClaims(TestNode node, Random random) {
    this.node = node;
    this.random = random;
  }

  /** A claim that the API server does not have yet. */
  LoadedClaim next(String name) {
    int card = random.nextInt(RandomLoad.CARDS);
    Way way = WAYS.get(random.nextInt(WAYS.size()));
    List<Part> parts = new ArrayList<>(List.of(part(card, way)));
    if (random.nextInt(4) == 0 && way != Way.MPS) { // by MPS a claim has one card
      parts.add(part((card + 1) % RandomLoad.CARDS, way));
    }
    boolean grows = way == Way.SHARE && random.nextInt(3) == 0;
    DeviceRequestAllocationResult[] results = new DeviceRequestAllocationResult[parts.size()];
    for (int i = 0; i < results.length; i++) {
      results[i] = result("r" + i, parts.get(i));
    }
    return new LoadedClaim(claim(name, configs(way, grows), results), parts, grows);
  }

  /** Bytes of a share, in GiB. */
  long bytes() {
    return (1 + random.nextInt(80)) * GIB;
  }

  private Part part(int card, Way way) {
    return new Part(card, way, way.isByMemory() ? bytes() : 0,
        way == Way.INSTANCE ? SLOTS.get(random.nextInt(SLOTS.size())) : "");
  }

  private static List<DeviceAllocationConfiguration> configs(Way way, boolean grows) {
    return switch (way) {
      case TURN -> List.of(timeSlicing("Short"));
      case SHARE -> grows ? List.of(UP_TO_MOST) : List.of();
      case MPS -> List.of(byMps());
      case WHOLE, INSTANCE -> List.of();
    };
  }

  private DeviceRequestAllocationResult result(String request, Part part) {
    return switch (part.way()) {
      case WHOLE -> whole(node.name, request, part.card());
      case SHARE, MPS -> share(node.name, request, part.card(), part.memory() / GIB + "Gi", "");
      case TURN -> share(node.name, request, part.card(), "", "");
      case INSTANCE -> instance(node.name, request, part.card(), part.slot());
    };
  }
}
