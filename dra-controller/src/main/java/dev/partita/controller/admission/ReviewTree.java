package dev.partita.controller.admission;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.partita.api.ApiServerJson;
import dev.partita.controller.decode.KeptFields;
import java.io.IOException;

/**
 * Reads JSON of an API server as a tree that is bounded in every way. Opaque parameters of other drivers, which nobody
 * reads here, may be nested as deeply as API servers take them and hold numbers of any length. In the place of what is
 * deeper than 200 levels, and of a number that informers would not keep, stands {@link #CUT}. If the JSON cannot be
 * read to its end, the tree has what came before.
 */
final class ReviewTree {
  static final JsonNode CUT = new Cut();

  private static final int MAX_DEPTH = 200;

  /** What to do about an object that is too large. */
  static final String ADVICE = "; use fewer or shorter selectors, configs, labels or annotations";

  /** No object of a cluster comes near to that. */
  private static final int MAX_VALUES = 150_000;

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final JsonFactory JSON = ApiServerJson.factory();

  /** It is text, for a field of our driver that takes an object or a number never takes this one. */
  private static final class Cut extends TextNode {
    private static final long serialVersionUID = 1L;

    Cut() {
      super("…");
    }
  }

  private final ObjectNode root = NODES.objectNode();
  private int values;

  /** The object that was read; empty if it was none. */
  ObjectNode root() {
    return root;
  }

  /** @throws IOException if it is no JSON, or has too many values; what was read before that stays */
  void read(byte[] json) throws IOException {
    try (JsonParser in = JSON.createParser(json)) {
      if (in.nextToken() == JsonToken.START_OBJECT) {
        fields(in, root, MAX_DEPTH);
      }
    }
  }

  /** Whether something of it stands no more as it was given. */
  static boolean isCut(JsonNode tree) {
    return tree instanceof Cut || tree.valueStream().anyMatch(ReviewTree::isCut);
  }

  private void fields(JsonParser in, ObjectNode object, int levels) throws IOException {
    while (in.nextToken() != JsonToken.END_OBJECT) {
      String name = in.currentName();
      in.nextToken();
      JsonNode value = begun(in, levels);
      object.set(name, value);
      fill(in, value, levels);
    }
  }

  private void fill(JsonParser in, JsonNode value, int levels) throws IOException {
    if (value instanceof ObjectNode object) {
      fields(in, object, levels - 1);
    } else if (value instanceof ArrayNode list) {
      while (in.nextToken() != JsonToken.END_ARRAY) {
        JsonNode element = begun(in, levels - 1);
        list.add(element);
        fill(in, element, levels - 1);
      }
    }
  }

  /** The value at which the parser is; without what is in it, if that is to be read. */
  private JsonNode begun(JsonParser in, int levels) throws IOException {
    if (++values > MAX_VALUES) {
      throw new IOException("it has more than " + MAX_VALUES + " fields and values" + ADVICE);
    }
    if (in.currentToken().isStructStart() && levels == 0) {
      in.skipChildren();
      return CUT;
    }
    return switch (in.currentToken()) {
      case START_OBJECT -> NODES.objectNode();
      case START_ARRAY -> NODES.arrayNode();
      case VALUE_STRING -> NODES.textNode(in.getText());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> KeptFields.keeps(in.getText()) ? number(in) : CUT;
      case VALUE_TRUE, VALUE_FALSE -> NODES.booleanNode(in.getBooleanValue());
      default -> NODES.nullNode();
    };
  }

  private static JsonNode number(JsonParser in) throws IOException {
    return switch (in.getNumberType()) {
      case INT -> NODES.numberNode(in.getIntValue());
      case LONG -> NODES.numberNode(in.getLongValue());
      case BIG_INTEGER -> NODES.numberNode(in.getBigIntegerValue());
      default -> NODES.numberNode(in.getDoubleValue());
    };
  }
}
