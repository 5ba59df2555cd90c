package dev.partita.controller.decode;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.deser.std.StringDeserializer;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Decodes equal strings to the same object, if one was decoded lately: names of nodes, models and namespaces occur in
 * thousands of objects. It remembers a fixed number of strings.
 */
final class SharedStrings extends StdScalarDeserializer<String> {
  private static final long serialVersionUID = 1;
  private static final int PLACES = 1 << 14;
  private static final int LONGEST = 64;

  private final transient AtomicReferenceArray<@Nullable String> known = new AtomicReferenceArray<>(PLACES);

  SharedStrings() {
    super(String.class);
  }

  @Override
  public @Nullable String deserialize(JsonParser parser, DeserializationContext context) throws IOException {
    if (parser.currentToken() != JsonToken.VALUE_STRING) {
      return StringDeserializer.instance.deserialize(parser, context);
    }
    String text = parser.getText();
    if (text.length() > LONGEST) {
      return text;
    }
    int place = (text.hashCode() * 0x9E3779B9) >>> 18;
    @Nullable String same = known.getPlain(place);
    if (text.equals(same)) {
      return same;
    }
    known.setOpaque(place, text);
    return text;
  }
}
