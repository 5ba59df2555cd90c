package dev.partita.api;

import java.nio.charset.StandardCharsets;

/**
 * Puts a question mark into the place of each byte of a JSON text that is no UTF-8, and of each escape that is half of
 * a surrogate pair. API servers keep both as they came within an opaque config, and Go's decoders read U+FFFD for them.
 */
final class RepairedJson {
  private static final byte[] QUESTION_MARK = "\\u003f".getBytes(StandardCharsets.US_ASCII);
  private static final int ESCAPE = QUESTION_MARK.length;

  private RepairedJson() {}

  /** The text itself where nothing of it is wrong, else a copy of the same length. */
  static byte[] of(byte[] json) {
    byte[] repaired = json;
    for (int i = 0; i < json.length;) {
      boolean escaped = json[i] == '\\';
      int good = escaped ? escape(json, i) : character(json, i);
      if (good == 0) {
        repaired = repaired == json ? json.clone() : repaired;
        if (escaped) {
          System.arraycopy(QUESTION_MARK, 0, repaired, i, ESCAPE);
        } else {
          repaired[i] = '?';
        }
      }
      i += good > 0 ? good : escaped ? ESCAPE : 1;
    }
    return repaired;
  }

  /** How many bytes the escape has there, with the other half of its pair; 0 if it is half of none. */
  private static int escape(byte[] json, int at) {
    int unit = unit(json, at);
    if (unit < 0 || !Character.isSurrogate((char) unit)) {
      return 2; // what follows of another escape is ordinary text
    }
    int next = unit(json, at + ESCAPE);
    return next >= 0 && Character.isSurrogatePair((char) unit, (char) next) ? 2 * ESCAPE : 0;
  }

  /** The UTF-16 code unit of an escape such as {@code \}{@code ud83d}; -1 if there is none. */
  private static int unit(byte[] json, int at) {
    if (at + ESCAPE > json.length || json[at] != '\\' || json[at + 1] != 'u') {
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
  private static int character(byte[] text, int at) {
    int first = text[at] & 0xff;
    if (first < 0x80) {
      return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
      return 0;
    }
    int length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (at + length > text.length) {
      return 0;
    }
    int least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    int most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    int second = text[at + 1] & 0xff;
    boolean good = second >= least && second <= most;
    for (int i = at + 2; i < at + length; i++) {
      good &= (text[i] & 0xc0) == 0x80;
    }
    return good ? length : 0;
  }
}
