package dev.partita.cli.top;

import dev.partita.cli.output.Cell;
import dev.partita.cli.output.Column;
import dev.partita.cli.output.Sheet;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.fleet.CardStanding;
import dev.partita.controller.fleet.CardState;
import dev.partita.controller.fleet.ClaimDevice;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.Measured;
import dev.partita.controller.fleet.NodeState;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** Nodes, cards and claims as rows. */
final class FleetSheets {
  private static final int USERS_SHOWN = 2;

  private FleetSheets() {}

  /** A row a node. */
  static Sheet nodes(Fleet fleet, NodeFilter filter) {
    Sheet sheet =
        new Sheet(
            Column.of("name", "NAME"), Column.of("ready", "READY"), Column.of("cards", "CARDS"),
            Column.of("available", "AVAILABLE"), Column.of("models", "MODELS"), Column.of("memory", "MEMORY"),
            Column.of("allocated", "ALLOCATED"), Column.of("used", "USED"), Column.of("free", "FREE"),
            Column.of("cores", "CORES"), Column.of("coresUsed", "CORES-USED"), Column.of("claims", "CLAIMS"),
            Column.wide("driver", "DRIVER"), Column.wide("allocator", "ALLOCATOR"), Column.wide("reason", "REASON"));
    for (NodeState node : fleet.nodes().stream().filter(node -> filter.admits(node.name())).toList()) {
      List<CardState> cards = node.cards();
      sheet.row(
          Cell.text(node.name()),
          Cell.text(node.host().isReady() ? "True" : "False"),
          Cell.count(cards.size()),
          Cell.count(cards.stream().filter(card -> card.standing() == CardStanding.Available).count()),
          Cell.text(node.node().getStatus() == null ? "" : node.node().getStatus().models()),
          Cell.memory(cards.stream().mapToLong(card -> card.card().allocatableMemory()).sum()),
          Cell.memory(cards.stream().mapToLong(CardState::memoryAllocated).sum()),
          new Cell.Memory(Measured.sum(cards.stream().map(CardState::memoryUsed))),
          Cell.memory(cards.stream().mapToLong(CardState::memoryFree).sum()),
          Cell.percent(OptionalLong.of(cards.stream().mapToLong(CardState::coresAllocated).sum())),
          Cell.percent(Measured.sum(cards.stream().map(CardState::coresUsed))),
          Cell.count(claims(cards.stream())),
          Cell.text(Optional.ofNullable(node.node().getStatus()).map(status -> status.driverVersion()).orElse("")),
          Cell.text(node.host().allocator().name()),
          Cell.text(node.host().unready().orElse("")));
    }
    return sheet;
  }

  /** A row a card. */
  static Sheet gpus(Fleet fleet, NodeFilter filter) {
    Sheet sheet =
        new Sheet(
            Column.of("node", "NODE"), Column.of("gpu", "GPU"), Column.of("model", "MODEL"),
            Column.of("state", "STATE"), Column.of("memory", "MEMORY"), Column.of("allocated", "ALLOCATED"),
            Column.of("used", "USED"), Column.of("free", "FREE"), Column.of("cores", "CORES"),
            Column.of("coresUsed", "CORES-USED"), Column.of("claims", "CLAIMS"), Column.of("users", "USERS"),
            Column.wide("uuid", "UUID"), Column.wide("reason", "REASON"));
    for (NodeState node : fleet.nodes().stream().filter(node -> filter.admits(node.name())).toList()) {
      for (CardState state : node.cards()) {
        sheet.row(
            Cell.text(node.name()),
            Cell.text("gpu-" + state.card().key().index()),
            Cell.text(state.card().model()),
            Cell.text(state.standing().name()),
            Cell.memory(state.card().allocatableMemory()),
            Cell.memory(state.memoryAllocated()),
            new Cell.Memory(state.memoryUsed()),
            Cell.memory(state.memoryFree()),
            Cell.percent(OptionalLong.of(state.coresAllocated())),
            Cell.percent(state.coresUsed()),
            Cell.count(claims(Stream.of(state))),
            new Cell.Words(users(state), USERS_SHOWN),
            Cell.text(state.card().gpu().uuid()),
            Cell.text(reason(node, state)));
      }
    }
    return sheet;
  }

  /** How many claims have something of these cards, be it several devices. */
  private static long claims(Stream<CardState> cards) {
    return cards.flatMap(card -> card.devices().stream()).map(ClaimDevice::claimName).distinct().count();
  }

  private static List<String> users(CardState card) {
    return card.devices().stream()
        .flatMap(device -> device.users().stream().map(user -> device.namespace() + "/" + user))
        .distinct().sorted().toList();
  }

  private static String reason(NodeState node, CardState state) {
    return state.standing() == CardStanding.NodeNotReady
        ? node.host().unready().orElse("")
        : state.problem().orElse("");
  }

  /** A row a device of a claim. */
  static Sheet claims(List<ClaimDevice> devices, NodeFilter filter) {
    Sheet sheet =
        new Sheet(
            Column.of("namespace", "NAMESPACE"), Column.of("name", "NAME"), Column.of("node", "NODE"),
            Column.of("gpu", "GPU"), Column.of("kind", "KIND"), Column.of("memory", "MEMORY"),
            Column.of("used", "USED"), Column.of("peak", "PEAK"), Column.of("cores", "CORES"),
            Column.of("coresUsed", "CORES-USED"), Column.of("processes", "PROCESSES"), Column.of("users", "USERS"),
            Column.wide("model", "MODEL"), Column.wide("device", "DEVICE"));
    for (ClaimDevice device : devices.stream().filter(d -> filter.admits(d.booking().card().node())).toList()) {
      sheet.row(
          Cell.text(device.namespace()),
          Cell.text(device.claim()),
          Cell.text(device.booking().card().node()),
          Cell.text("gpu-" + device.booking().card().index()),
          Cell.text(kind(device.booking())),
          new Cell.Memory(device.memory()),
          new Cell.Memory(device.measured().memoryUsed()),
          new Cell.Memory(device.measured().memoryPeak()),
          Cell.percent(device.isShare() ? OptionalLong.of(device.booking().cores()) : OptionalLong.empty()),
          Cell.percent(device.measured().coresUsed()),
          new Cell.Count(device.measured().processes(), ""),
          new Cell.Words(device.users(), USERS_SHOWN),
          Cell.text(device.model()),
          Cell.text(device.booking().device().toString()));
    }
    return sheet;
  }

  private static String kind(Booking booking) {
    return switch (booking.device().mode()) {
      case SHARED -> booking.isTurn() ? "TimeSlicing" : booking.mps() ? "MPS" : "Share";
      case WHOLE -> "Whole";
      case MIG -> "Mig";
      case MIG_SHARED -> "MigShare";
    };
  }
}
