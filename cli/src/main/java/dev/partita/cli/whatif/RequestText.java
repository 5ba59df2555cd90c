package dev.partita.cli.whatif;

import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.cli.command.CommandFailure;
import dev.partita.controller.whatif.AddedNodes;
import dev.partita.controller.whatif.RequestedCards;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what {@code --request} says, and which nodes are to be added. */
final class RequestText {
  private static final List<String> KEYS = List.of("memory", "cores", "model", "count");
  private static final int MOST_CARDS = 32;
  private static final Pattern NODES = Pattern.compile("(\\d{1,4})x([A-Za-z0-9 -]*[A-Za-z0-9])x(\\d{1,2})(?::(\\S+))?");

  private RequestText() {}

  /**
   * Reads names and values, such as {@code memory=8Gi,cores=25,model=h200}.
   *
   * @param namespace of the pods that ask
   * @throws CommandFailure if it says something that cannot be
   */
  static RequestedCards request(String text, String namespace) {
    Map<String, String> said = new HashMap<>();
    for (String part : text.split(",", -1)) {
      String[] pair = part.strip().split("=", 2);
      if (pair.length < 2 || pair[1].isBlank() || !KEYS.contains(pair[0]) || said.put(pair[0], pair[1]) != null) {
        throw CommandFailure.usage("--request has names and values, such as memory=8Gi,cores=25, and knows "
            + String.join(", ", KEYS) + " once each, not '" + part.strip() + "'");
      }
    }
    OptionalLong memory = said.containsKey("memory") ? memory(said.get("memory"), "--request") : OptionalLong.empty();
    return new RequestedCards(namespace, (int) number(said, "count", MOST_CARDS).orElse(1), memory,
        number(said, "cores", 100), Optional.ofNullable(said.get("model")).map(Driver::modelOf));
  }

  /**
   * Reads number, model and cards of nodes, and the memory of a card: {@code 2xL40Sx8}, {@code 2xL40Sx8:45Gi}.
   *
   * @throws CommandFailure if it says something that cannot be
   */
  static AddedNodes nodes(String text) {
    Matcher parts = NODES.matcher(text);
    if (!parts.matches() || Integer.parseInt(parts.group(1)) == 0 || Integer.parseInt(parts.group(3)) == 0) {
      throw CommandFailure.usage("nodes are written as COUNTxMODELxCARDS, such as 2xL40Sx8 or 2xL40Sx8:45Gi, not '"
          + text + "'");
    }
    return new AddedNodes(Integer.parseInt(parts.group(1)), parts.group(2), Integer.parseInt(parts.group(3)),
        parts.group(4) == null ? OptionalLong.empty() : memory(parts.group(4), "nodes"));
  }

  private static OptionalLong memory(String text, String where) {
    OptionalLong bytes = Bytes.parse(text);
    if (bytes.isEmpty() || bytes.getAsLong() < 1) {
      throw CommandFailure.usage(where + ": '" + text + "' is no amount of memory such as 8Gi");
    }
    return bytes;
  }

  private static OptionalLong number(Map<String, String> said, String key, int most) {
    String text = said.getOrDefault(key, "");
    if (text.isEmpty()) {
      return OptionalLong.empty();
    }
    if (!text.matches("[0-9]{1,3}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > most) {
      throw CommandFailure.usage("--request: " + key + " is a whole number from 1 to " + most + ", not '" + text + "'");
    }
    return OptionalLong.of(Integer.parseInt(text));
  }
}
