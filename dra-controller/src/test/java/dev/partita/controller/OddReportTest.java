package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.DeviceMode;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.MigProfile.Placement;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice;
import dev.partita.controller.allocate.FreeCards;
import dev.partita.controller.booking.Books;
import dev.partita.controller.classes.ClassPlan;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.headroom.Headroom;
import dev.partita.controller.held.HeldBookings;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.slices.SlicePlan;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a single node reports, be it ever so odd, takes no other node's cards from anybody. */
class OddReportTest {
  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  @Test
  void whateverIsMissingOrOddInTheReportOfOneNodeTheOthersAreOffered() throws Exception {
    ObjectNode report = (ObjectNode) new ObjectMapper().readTree(JSON.asJson(reported()));
    each(report.get("status"), "status",
        (path, odd) -> assertThatCode(() -> look(JSON.unmarshal(report.toString(), GpuNode.class)))
            .as("%s: %s", path, odd).doesNotThrowAnyException());
  }

  /** While a cluster is upgraded, plugins of another release report to the controllers. */
  @Test
  void whatANewerReleaseReportsBesidesIsNotReadAndTheRestIs() throws Exception {
    ObjectNode report = (ObjectNode) new ObjectMapper().readTree(JSON.asJson(reported()));
    ((ObjectNode) report.get("status")).remove("conditions"); // Kubernetes' own type keeps what it does not know
    GpuNode known = JSON.unmarshal(report.toString(), GpuNode.class);
    List<ObjectNode> objects = new ArrayList<>();
    objects(report.get("spec"), objects);
    objects(report.get("status"), objects);
    objects.forEach(object -> object.putObject("ofANewerRelease").put("since", "tomorrow"));
    GpuNode read = JSON.unmarshal(report.toString(), GpuNode.class);
    assertThat(objects).hasSizeGreaterThan(20);
    assertThat(read.getSpec()).isEqualTo(known.getSpec());
    assertThat(read.getStatus()).isEqualTo(known.getStatus());
  }

  @Test
  void whatANewerReleaseCallsByANewWordIsReadAsTheWorstThatItMayMean() throws Exception {
    ObjectNode report = (ObjectNode) new ObjectMapper().readTree(JSON.asJson(reported()));
    ObjectNode card = (ObjectNode) report.at("/status/gpus/0");
    card.put("memoryEnforcement", "Firmware");
    ((ObjectNode) card.get("health")).put("state", "Degraded").put("reason", "Worn").put("message", "is worn");
    ((ObjectNode) report.at("/status/held/0")).put("reason", "Moving");
    ((ObjectNode) report.at("/status/held/0/devices/0")).put("kind", "Slice");
    GpuNode read = JSON.unmarshal(report.toString(), GpuNode.class);
    GpuHost host = host(read);
    assertThat(read.getStatus().gpus().getFirst().memoryEnforcement()).isNull();
    assertThat(host.devices().stream().filter(device -> device.card().key().index() == 0)).isNotEmpty()
        .allSatisfy(device -> assertThat(device.taints()).isNotEmpty());
    assertThat(HeldBookings.of(host)).singleElement().satisfies(held -> {
      assertThat(held.besides()).as("it is counted even where its claim counts, too").isTrue();
      assertThat(held.bookings().getFirst().device().mode()).as("all of the card").isEqualTo(DeviceMode.WHOLE);
    });
  }

  @Test
  void aModeOrAnAllocatorThatOnlyANewerReleaseKnowsOffersNothing() {
    assertThat(host(offered("publish: [Sliced, Shared]")).devices())
        .extracting(device -> device.name().toString()).containsExactly("gpu-0-shared", "gpu-1-shared");
    assertThat(host(offered("publish: [Sliced]")).devices()).as("nor what is offered by default").isEmpty();
    assertThat(host(offered("allocator: Market")).devices()).isEmpty();
    assertThat(host(offered("allocator: Market")).cards()).as("what is taken of them counts").hasSize(2);
    assertThat(host(offered("{}")).devices()).hasSize(4);
  }

  private static GpuNode offered(String spec) {
    GpuNode node = GpuNodes.ready("new", 2, "NVIDIA H200", 140 * GpuNodes.GIB);
    node.setSpec(JSON.unmarshal(spec, GpuNodeSpec.class));
    return node;
  }

  private static GpuHost host(GpuNode node) {
    return Inventory.EMPTY.refreshed(List.of(node)).hosts().values().iterator().next();
  }

  private static void objects(JsonNode in, List<ObjectNode> found) {
    if (in instanceof ObjectNode object) {
      found.add(object);
    }
    in.forEach(child -> objects(child, found));
  }

  @FunctionalInterface
  private interface Look {
    void at(String path, String odd);
  }

  /** Looks at the document with each of its fields missing, and with odd values of it, one after the other. */
  private static void each(JsonNode parent, String path, Look look) {
    if (parent instanceof ObjectNode object) {
      for (Map.Entry<String, JsonNode> field : List.copyOf(object.properties())) {
        String name = field.getKey();
        JsonNode before = field.getValue();
        String at = path + "." + name;
        object.remove(name);
        look.at(at, "missing");
        if (before.isIntegralNumber()) {
          long most = name.endsWith("Bytes") ? Long.MAX_VALUE : Integer.MAX_VALUE;
          for (long odd : new long[]{-1, 0, 1, Integer.MIN_VALUE, most}) {
            object.put(name, odd);
            look.at(at, String.valueOf(odd));
          }
        } else if (before.isTextual()) {
          for (String odd : List.of("", " ", "x".repeat(300), "../\u0000\"")) {
            object.put(name, odd);
            look.at(at, odd);
          }
        } else if (before.isArray()) {
          object.putArray(name);
          look.at(at, "[]");
          ArrayNode twice = object.putArray(name);
          twice.addAll((ArrayNode) before).addAll((ArrayNode) before);
          look.at(at, "twice");
        } else if (before.isObject()) {
          object.putObject(name);
          look.at(at, "{}");
        }
        object.set(name, before);
        each(before, at, look);
      }
    } else if (parent instanceof ArrayNode list) {
      for (int i = 0; i < list.size(); i++) {
        JsonNode before = list.get(i);
        list.set(i, new ObjectMapper().createObjectNode());
        if (before.isObject()) {
          look.at(path + "[" + i + "]", "{}");
        }
        list.set(i, before);
        each(before, path + "[" + i + "]", look);
      }
    }
  }

  private static GpuNode reported() {
    List<Gpu> mig = GpuNodes.migCards("odd", 3);
    List<Gpu> cards = List.of(mig.get(0), GpuNodes.cutShareably(mig.get(1), "1g.18gb:0", "2g.35gb:2"), mig.get(2),
        GpuNodes.opaqueCard("odd", 16 * GpuNodes.GIB));
    return GpuNodes.holding(GpuNodes.ready("odd", GpuNodeSpec.DEFAULT, cards),
        new HeldClaim("uid", "default", "gone", HeldClaim.Reason.ClaimGone,
            List.of(HeldDevice.share(cards.get(0).uuid(), 8 * GpuNodes.GIB, 10),
                HeldDevice.instance(cards.get(1).uuid(), "1g.18gb", new Placement(0, 1))),
            "2026-01-01T00:00:00Z"));
  }

  private static void look(GpuNode odd) {
    GpuNode good = GpuNodes.ready("good", 2, "NVIDIA H200", 140 * GpuNodes.GIB);
    Inventory inventory = Inventory.EMPTY.refreshed(List.of(odd, good));
    inventory = inventory.refreshed(List.of(odd, good));
    Books books = new Books();
    inventory.hosts().values()
        .forEach(host -> HeldBookings.of(host).forEach(held -> books.put(held.key(), held.bookings())));
    new FreeCards(books).refresh(inventory);
    assertThat(Headroom.byModel(inventory.hosts().values(), books, host -> true)).hasEntrySatisfying("h200",
        headroom -> assertThat(headroom.wholeCards()).isGreaterThanOrEqualTo(2));
    assertThat(ClassPlan.of(inventory)).containsKey("h200.gpu.partita.dev");
    inventory.hosts().values().forEach(SlicePlan::of);
    Fleet.of(List.of(odd, good), List.of());
  }
}
