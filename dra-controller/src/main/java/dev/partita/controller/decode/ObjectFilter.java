package dev.partita.controller.decode;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import dev.partita.api.ApiServerJson;
import dev.partita.api.Excerpt;
import dev.partita.controller.decode.KeptFields.Fields;
import dev.partita.controller.decode.KeptFields.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Copies an object's JSON without what {@link KeptFields} does not list. In objects that tenants write, a list or a
 * field that is kept whole is left out if more than {@link KeptFields#MOST} would be kept with it, or if it is nested
 * so deeply, or has names or numbers so long, that decoders refuse it; the copy then says which. Some texts are cut off
 * instead.
 */
final class ObjectFilter {
  private static final JsonFactory JSON = ApiServerJson.factory();

  // What a value takes on the heap as one of the client's objects, roughly: an object has a table and several lists of
  // its own.
  private static final int OBJECT_BYTES = 240;
  private static final int LIST_BYTES = 56;
  private static final int FIELD_BYTES = 48;
  private static final int SCALAR_BYTES = 56;

  private final Kind kind;
  private final List<String> leftOut = new ArrayList<>();
  private long budget;
  private int level;

  private ObjectFilter(Kind kind) {
    this.kind = kind;
  }

  /**
   * The copy of an object.
   *
   * @throws IOException if it is no JSON
   */
  static byte[] object(Kind kind, byte[] json, int length) throws IOException {
    ByteArrayOutputStream copy = new ByteArrayOutputStream(1024);
    try (JsonParser in = JSON.createParser(json, 0, length);
        JsonGenerator out = JSON.createGenerator(copy)) {
      in.nextToken();
      new ObjectFilter(kind).object(in, out);
    }
    return copy.toByteArray();
  }

  /**
   * The copy of a watch event, in which such an object is.
   *
   * @throws IOException if it is no JSON
   */
  static byte[] event(Kind kind, byte[] json, int length) throws IOException {
    ByteArrayOutputStream copy = new ByteArrayOutputStream(1024);
    try (JsonParser in = JSON.createParser(json, 0, length);
        JsonGenerator out = JSON.createGenerator(copy)) {
      if (in.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("no watch event");
      }
      out.writeStartObject();
      while (in.nextToken() == JsonToken.FIELD_NAME) {
        String name = in.currentName();
        out.writeFieldName(name);
        if (in.nextToken() == JsonToken.START_OBJECT && name.equals("object")) {
          new ObjectFilter(kind).object(in, out);
        } else {
          out.copyCurrentStructure(in);
        }
      }
      out.writeEndObject();
    }
    return copy.toByteArray();
  }

  private void object(JsonParser in, JsonGenerator out) throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT) {
      out.copyCurrentStructure(in);
      return;
    }
    out.writeStartObject();
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      String name = in.currentName();
      in.nextToken();
      budget = kind.bounded() ? KeptFields.MOST : Long.MAX_VALUE;
      if (in.currentToken().isScalarValue()) {
        out.writeFieldName(name); // the kind, or what is wrong, in a Status that stands where an object is expected
        out.copyCurrentEvent(in);
      } else {
        field(in, name, kind.fields(), name, out);
      }
    }
    if (!leftOut.isEmpty()) {
      out.writeFieldName(LeftOut.FIELD);
      out.writeArray(leftOut.toArray(String[]::new), 0, leftOut.size());
    }
    out.writeEndObject();
  }

  /** A field, at its value. */
  private void field(JsonParser in, String name, Fields parent, String path, JsonGenerator out) throws IOException {
    Fields kept = parent.of(name);
    if (kept == null) {
      in.skipChildren();
    } else if (!kind.bounded() || (in.currentToken() == JsonToken.START_OBJECT && !kept.whole())) {
      out.writeFieldName(name);
      fields(in, kept, path, out);
    } else {
      whole(in, name, kept, path, out);
    }
  }

  private void fields(JsonParser in, Fields kept, String path, JsonGenerator out) throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT || kept.whole()) {
      counted(in, kept, out);
      return;
    }
    out.writeStartObject();
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      String name = in.currentName();
      in.nextToken();
      field(in, name, kept, path + "." + name, out);
    }
    out.writeEndObject();
  }

  /** All of it or nothing. */
  private void whole(JsonParser in, String name, Fields kept, String path, JsonGenerator out) throws IOException {
    long before = budget;
    budget = kept.apart() ? KeptFields.MOST_APART : budget;
    try (TokenBuffer copy = new TokenBuffer(in)) {
      counted(in, kept, copy);
      if (budget >= 0) {
        out.writeFieldName(name);
        copy.serialize(out);
        budget = kept.apart() ? before : budget;
        return;
      }
    }
    budget = before;
    leftOut.add(path);
  }

  /** Copies a value, and takes from the budget what it costs; when that is used up the rest is passed over. */
  private void counted(JsonParser in, Fields kept, JsonGenerator out) throws IOException {
    refuseIf(++level > KeptFields.MOST_LEVELS);
    copy(in, kept, out);
    level--;
  }

  private void copy(JsonParser in, Fields kept, JsonGenerator out) throws IOException {
    switch (in.currentToken()) {
      case START_ARRAY -> {
        budget -= LIST_BYTES;
        out.writeStartArray();
        while (in.nextToken() != JsonToken.END_ARRAY) {
          element(in, kept, out);
        }
        out.writeEndArray();
      }
      case START_OBJECT -> {
        budget -= OBJECT_BYTES;
        out.writeStartObject();
        while (in.nextToken() == JsonToken.FIELD_NAME) {
          String name = in.currentName();
          in.nextToken();
          Fields field = kept.of(name);
          if (field == null) {
            in.skipChildren();
          } else {
            budget -= FIELD_BYTES + name.length();
            refuseIf(name.length() > KeptFields.MOST_OF_NAME);
            out.writeFieldName(name);
            element(in, field, out);
          }
        }
        out.writeEndObject();
      }
      default -> {
        if (kept.cut() && in.getTextLength() > KeptFields.MOST_OF_TEXT) {
          budget -= SCALAR_BYTES + KeptFields.MOST_OF_TEXT;
          out.writeString(Excerpt.beginning(in.getText(), KeptFields.MOST_OF_TEXT));
        } else {
          budget -= SCALAR_BYTES + in.getTextLength();
          refuseIf(in.currentToken().isNumeric() && !KeptFields.keeps(in.getText()));
          if (budget < 0) {
            out.writeNull();
          } else {
            out.copyCurrentEventExact(in);
          }
        }
      }
    }
  }

  private void refuseIf(boolean odd) {
    if (odd && kind.bounded()) {
      budget = -1;
    }
  }

  private void element(JsonParser in, Fields kept, JsonGenerator out) throws IOException {
    if (budget < 0) {
      in.skipChildren();
      out.writeNull();
    } else {
      counted(in, kept, out);
    }
  }
}
