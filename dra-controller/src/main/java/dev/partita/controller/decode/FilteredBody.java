package dev.partita.controller.decode;

import dev.partita.controller.decode.KeptFields.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Filters the body of an answer, a list or the events of a watch, while it arrives. It finds where each object begins
 * and ends by its braces, and holds one object at a time. So a list of any length takes as much memory as what is kept
 * of its objects. For one thread at a time.
 */
final class FilteredBody {
  /**
   * The API server stores no object beyond 1.5 MiB; a custom resource's may be written with escapes that make it
   * longer.
   */
  private static final int MOST_BYTES = 16 << 20;

  /** How much of the buffer is kept for the next object. */
  private static final int ORDINARY_BYTES = 64 << 10;

  private final Kind kind;

  /** An object of a list is in the list {@code items} of the answer; an event is the answer, and others follow it. */
  private final boolean isList;

  private byte[] object = new byte[4096];
  private int length;
  private int depth;
  private boolean inText;
  private boolean escaped;
  private boolean inItems;
  private boolean inObject;

  FilteredBody(Kind kind, boolean isList) {
    this.kind = kind;
    this.isList = isList;
  }

  /**
   * Takes what has arrived.
   *
   * @return what is to be decoded of it, and of what was held back before
   * @throws IOException if it is not what an API server sends
   */
  byte[] arrived(ByteBuffer chunk) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream(1024);
    while (chunk.hasRemaining()) {
      byte next = chunk.get();
      boolean begins = !inText && next == '{' && depth == (isList ? 2 : 0) && (!isList || inItems);
      if (begins) {
        inObject = true;
      }
      if (inObject) {
        hold(next);
      } else {
        out.write(next);
      }
      boolean ends = follow(next) && inObject && depth == (isList ? 2 : 0);
      if (ends) {
        inObject = false;
        out.writeBytes(isList ? ObjectFilter.object(kind, object, length) : ObjectFilter.event(kind, object, length));
        length = 0;
        if (object.length > ORDINARY_BYTES) {
          object = new byte[ORDINARY_BYTES];
        }
      }
    }
    return out.toByteArray();
  }

  /** Whether that closed something. */
  private boolean follow(byte next) {
    if (inText) {
      if (escaped) {
        escaped = false;
      } else if (next == '\\') {
        escaped = true;
      } else if (next == '"') {
        inText = false;
      }
      return false;
    }
    switch (next) {
      case '"' -> inText = true;
      case '{' -> depth++;
      case '[' -> {
        inItems |= depth == 1; // no other field of a list's own is a list
        depth++;
      }
      case ']', '}' -> {
        depth--;
        inItems &= depth > 1;
        return true;
      }
      default -> {}
    }
    return false;
  }

  private void hold(byte next) throws IOException {
    if (length == MOST_BYTES) {
      throw new IOException("an object of kind " + kind.name() + " has more than " + MOST_BYTES + " bytes");
    }
    if (length == object.length) {
      object = Arrays.copyOf(object, 2 * length);
    }
    object[length++] = next;
  }
}
