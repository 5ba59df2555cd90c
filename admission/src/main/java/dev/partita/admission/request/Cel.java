package dev.partita.admission.request;

/** Writes values into CEL expressions. */
final class Cel {
  private Cel() {}

  /**
   * A string literal that means exactly the value, whatever is in it (CEL language definition, string and bytes
   * values).
   */
  static String text(String value) {
    StringBuilder literal = new StringBuilder("\"");
    value
        .codePoints()
        .forEach(
            point -> {
              if (point == '"' || point == '\\') {
                literal.append('\\').appendCodePoint(point);
              } else if (point >= ' ' && point < 0x7f) {
                literal.appendCodePoint(point);
              } else {
                literal.append("\\U%08x".formatted(Character.getType(point) == Character.SURROGATE ? 0xfffd : point));
              }
            });
    return literal.append('"').toString();
  }
}
