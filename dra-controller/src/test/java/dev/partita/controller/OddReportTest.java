package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.slices.SlicePlan;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a single node reports, be it ever so odd, takes no other node's cards from anybody. */
class OddReportTest {
  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  /** Fields of which the API server takes only the values that its schema lists. */
  private static final Set<String> ENUMERATIONS = Set.of("state", "kind", "reason", "memoryEnforcement");

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
        } else if (before.isTextual() && !ENUMERATIONS.contains(name)) {
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
