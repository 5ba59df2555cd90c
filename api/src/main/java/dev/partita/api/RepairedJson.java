package dev.partita.api;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Reads a JSON text with a question mark in the place of each byte that is no UTF-8, and of each escape that is half of
 * a surrogate pair. API servers keep both as they came within an opaque config, and Go's decoders read U+FFFD for them.
 */
final class RepairedJson extends InputStream {
  private static final byte[] QUESTION_MARK = "\\u003f".getBytes(StandardCharsets.US_ASCII);
  private static final int ESCAPE = QUESTION_MARK.length;
  private static final int PAIR = 2 * ESCAPE;
  private static final int BUFFER = 64 << 10;

  private final InputStream json;
  private final byte[] buffer = new byte[BUFFER];
  private int next;
  private int repaired;
  private int filled;
  private boolean ended;

  RepairedJson(InputStream json) {
    this.json = json;
  }

  @Override
  public int read() throws IOException {
    return isAtEnd() ? -1 : buffer[next++] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (isAtEnd()) {
      return -1;
    }
    int count = Math.min(length, repaired - next);
    System.arraycopy(buffer, next, into, offset, count);
    next += count;
    return count;
  }

  @Override
  public void close() throws IOException {
    json.close();
  }

  private boolean isAtEnd() throws IOException {
    while (next == repaired && !(ended && repaired == filled)) {
      System.arraycopy(buffer, repaired, buffer, 0, filled - repaired);
      filled -= repaired;
      int read = json.read(buffer, filled, buffer.length - filled);
      ended = read < 0;
      filled += Math.max(0, read);
      next = 0;
      repaired = repair(buffer, filled, ended);
    }
    return next == repaired;
  }

  /**
   * Repairs a text in its place.
   *
   * @param last whether nothing follows; else what may not be whole at the end is left for the next time
   * @return how many bytes are repaired
   */
  static int repair(byte[] json, int length, boolean last) {
    int end = last ? length : length - PAIR + 1;
    int at = 0;
    while (at < end) {
      boolean escaped = json[at] == '\\';
      int good = escaped ? escape(json, at, length) : character(json, at, length);
      if (good == 0 && escaped) {
        System.arraycopy(QUESTION_MARK, 0, json, at, ESCAPE);
      } else if (good == 0) {
        json[at] = '?';
      }
      at += good > 0 ? good : escaped ? ESCAPE : 1;
    }
    return Math.min(at, length);
  }

  /** How many bytes the escape has there, with the other half of its pair; 0 if it is half of none. */
  private static int escape(byte[] json, int at, int length) {
    int unit = unit(json, at, length);
    if (unit < 0 || !Character.isSurrogate((char) unit)) {
      return 2; // what follows of another escape is ordinary text
    }
    int other = unit(json, at + ESCAPE, length);
    return other >= 0 && Character.isSurrogatePair((char) unit, (char) other) ? PAIR : 0;
  }

  /** The UTF-16 code unit of an escape such as {@code \}{@code ud83d}; -1 if there is none. */
  private static int unit(byte[] json, int at, int length) {
    if (at + ESCAPE > length || json[at] != '\\' || json[at + 1] != 'u') {
      return -1;
    }
    int unit = 0;
    for (int i = at + 2; i < at + ESCAPE; i++) {
      int digit = Character.digit(json[i], 16);
      if (digit < 0) {
        return -1;
      }
      unit = unit << 4 | digit;
    }
    return unit;
  }

  /** How many bytes the character has there; 0 if it is none (the Unicode standard, table 3-7). */
  private static int character(byte[] text, int at, int length) {
    int first = text[at] & 0xff;
    if (first < 0x80) {
      return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
      return 0;
    }
    int bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (at + bytes > length) {
      return 0;
    }
    int least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    int most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    int second = text[at + 1] & 0xff;
    boolean good = second >= least && second <= most;
    for (int i = at + 2; i < at + bytes; i++) {
      good &= (text[i] & 0xc0) == 0x80;
    }
    return good ? bytes : 0;
  }
}
