package dev.partita.controller.agreement;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What Kubernetes' allocator answered, as {@code src/agreement} recorded it.
 *
 * @param header the first line
 * @param cases the others
 */
record Recorded(Header header, List<Case> cases) {
  /**
   * The cases are for this, with custom classes beside ours; the slices are those that Kubernetes' allocator was given
   * for the example node.
   */
  record Header(
      String library,
      long seed,
      Map<String, String> classes,
      Map<String, String> custom,
      Node node,
      List<JsonNode> slices) {}

  /** An inventory, a claim's {@code spec.devices}, and the answer about every node. */
  record Case(List<Node> nodes, JsonNode claim, Map<String, Answer> answers) {}

  enum Answer {
    @JsonProperty("placed") PLACED,
    @JsonProperty("no place") NO_PLACE,
    @JsonProperty("error") ERROR,
    /** It forgets some of what a {@code distinctAttribute} forbids. */
    @JsonProperty("placed against a constraint") WRONG
  }

  /** @param mig whether its H200s are published as MIG instances, too */
  record Node(String name, boolean mig, List<Card> cards, @Nullable List<Taken> taken) {
    /** The node as its plugin would report it. */
    GpuNode reported(Allocator allocator) {
      List<Gpu> gpus = new ArrayList<>();
      for (Card card : cards) {
        Gpu gpu = card.of(name, gpus.size());
        gpus.add(mig && card.model().equals("h200") ? gpu.withMigProfiles(GpuNodes.h200Profiles()) : gpu);
      }
      return GpuNodes.ready(name, new GpuNodeSpec(allocator, mig ? List.of(PublishedMode.values()) : List.of(), null),
          gpus);
    }

    List<Booking> bookings() {
      return Objects.requireNonNullElse(taken, List.<Taken>of()).stream().map(t -> t.booking(name)).toList();
    }
  }

  record Card(String model, @Nullable Integer numa, @Nullable String nvlink, @Nullable String unhealthy) {
    private Gpu of(String node, int index) {
      boolean large = model.equals("h200");
      return new Gpu(index, index, "GPU-" + node + "-" + index,
          new GpuProduct(large ? "NVIDIA H200" : "NVIDIA L40S", model, "Nvidia", large ? "Hopper" : "Ada Lovelace",
              large ? "9.0" : "8.9"),
          memoryBytes(),
          new GpuTopology("0000:%02x:00.0".formatted(index), "pci0000:%02x".formatted(index / 2), numa, nvlink),
          unhealthy == null ? GpuHealth.HEALTHY : GpuHealth.unhealthy(unhealthy, "as recorded"));
    }

    long memoryBytes() {
      return (model.equals("h200") ? 141 : 48) * GpuNodes.GIB;
    }
  }

  /** A share, a MIG instance, which says its profile, or a whole card. */
  record Taken(int card, long memory, int cores, @Nullable String profile, int start) {
    private Booking booking(String node) {
      CardKey key = new CardKey(node, card);
      return profile == null
          ? new Booking(key, memory == 0 ? DeviceMode.WHOLE : DeviceMode.SHARED, memory, cores)
          : new Booking(key, new DeviceName.Mig(card, new MigSlot(profile, start)), 0, 0);
    }
  }

  static Recorded read(String resource) {
    try (var in = Objects.requireNonNull(Recorded.class.getResourceAsStream(resource), resource);
        var lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      Header header = Serialization.unmarshal(Objects.requireNonNull(lines.readLine()), Header.class);
      return new Recorded(header, lines.lines().map(line -> Serialization.unmarshal(line, Case.class)).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
