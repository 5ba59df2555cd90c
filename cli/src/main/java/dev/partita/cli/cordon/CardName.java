package dev.partita.cli.cordon;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.node.GpuNode;
import dev.partita.cli.command.CommandFailure;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** How a user names a card. */
sealed interface CardName {
  Pattern PLACE = Pattern.compile("([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)/(?:gpu-)?(\\d{1,4})");

  /** The card of that index on a node. */
  record Place(String node, int index) implements CardName {}

  /** UUIDs of NVIDIA's cards, and of cards that an administrator listed in a file. */
  Pattern UUID = Pattern.compile("(GPU|OPAQUE)-.+");

  /** The card with that UUID, wherever it is. */
  record Uuid(String uuid) implements CardName {}

  /**
   * Reads {@code node-a/3}, {@code node-a/gpu-3} or a UUID.
   *
   * @throws CommandFailure if it is none of them
   */
  static CardName parse(String text) {
    Matcher place = PLACE.matcher(text);
    if (place.matches()) {
      return new Place(place.group(1), Integer.parseInt(place.group(3)));
    }
    if (UUID.matcher(text).matches()) {
      return new Uuid(text);
    }
    throw CommandFailure.usage(
        "'" + text + "' names no card: give NODE/INDEX, such as gpu-node-7/3, or its UUID; 'partita top gpus -o wide'"
            + " lists them");
  }

  /** A card on its node. */
  record Found(GpuNode node, String uuid) {
    /** Node and index, or what else is known of it. */
    String words() {
      String name = node.getMetadata().getName();
      return CardName.cards(node).stream().filter(gpu -> gpu.uuid().equals(uuid)).findFirst()
          .map(gpu -> name + "/gpu-" + gpu.index()).orElse(name + "/" + uuid);
    }
  }

  /**
   * Finds the card; a card that its node does not have any more is found by its UUID as long as it is cordoned.
   *
   * @throws CommandFailure if there is no such card
   */
  default Found in(List<GpuNode> nodes) {
    return switch (this) {
      case Place(String name, int index) -> {
        GpuNode node = nodes.stream().filter(each -> each.getMetadata().getName().equals(name)).findFirst()
            .orElseThrow(() -> CommandFailure.failed("there is no GpuNode " + name));
        yield new Found(node, cards(node).stream().filter(gpu -> gpu.index() == index).findFirst()
            .orElseThrow(() -> CommandFailure.failed("node " + name + " has no card " + index + "; it has "
                + (cards(node).isEmpty()
                    ? "none"
                    : cards(node).stream().map(gpu -> String.valueOf(gpu.index())).collect(Collectors.joining(", ")))))
            .uuid());
      }
      case Uuid(String uuid) -> nodes.stream()
          .filter(node -> cards(node).stream().anyMatch(gpu -> gpu.uuid().equals(uuid))
              || Objects.requireNonNull(node.getSpec()).cordoned().contains(uuid))
          .findFirst().map(node -> new Found(node, uuid))
          .orElseThrow(() -> CommandFailure.failed("no node has a card " + uuid));
    };
  }

  private static List<Gpu> cards(GpuNode node) {
    return node.getStatus() == null ? List.of() : node.getStatus().gpus();
  }
}
