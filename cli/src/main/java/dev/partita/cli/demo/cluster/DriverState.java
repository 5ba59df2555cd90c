package dev.partita.cli.demo.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.stream.StreamSupport;

/**
 * What a node's simulated cards hold: the truth, which no container can change.
 *
 * @param cards by index
 */
public record DriverState(List<Card> cards) {
  public DriverState {
    cards = List.copyOf(cards);
  }

  /**
   * A simulated card.
   *
   * @param usedBytes held by programs and by the driver for them
   * @param holdings what each process has allocated, in bytes
   */
  public record Card(String uuid, long totalBytes, long usedBytes, List<Long> holdings) {
    public Card {
      holdings = List.copyOf(holdings);
    }
  }

  /** Reads what {@code partita-sim-driver state} prints. */
  static DriverState parse(String json) throws IOException {
    return new DriverState(
        elements(new ObjectMapper().readTree(json).path("gpus")).stream().map(DriverState::card).toList());
  }

  private static Card card(JsonNode card) {
    return new Card(
        card.path("uuid").asText(),
        card.path("totalBytes").asLong(),
        card.path("usedBytes").asLong(),
        elements(card.path("processes")).stream().map(process -> process.path("memoryBytes").asLong()).toList());
  }

  private static List<JsonNode> elements(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).toList();
  }

  /** Whether no process holds anything on any card. */
  public boolean isIdle() {
    return cards.stream().allMatch(card -> card.usedBytes() == 0 && card.holdings().isEmpty());
  }

  Card card(String uuid) {
    return cards.stream().filter(card -> card.uuid().equals(uuid)).findFirst().orElseThrow();
  }
}
