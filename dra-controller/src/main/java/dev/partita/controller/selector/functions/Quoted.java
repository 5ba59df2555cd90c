package dev.partita.controller.selector.functions;

/** Texts in quotation marks. */
final class Quoted {
  private Quoted() {}

  /** As the function strings.quote of CEL has it: what has an escape of its own is escaped, and nothing else. */
  static String plainly(String text) {
    return quoted(text, false);
  }

  /** As Kubernetes' CEL writes a text within a formatted list: so that everything in it can be seen. */
  static String visibly(String text) {
    return quoted(text, true);
  }

  private static String quoted(String text, boolean visibly) {
    StringBuilder quoted = new StringBuilder("\"");
    text.codePoints().forEach(point -> append(quoted, point, visibly));
    return quoted.append('"').toString();
  }

  private static void append(StringBuilder quoted, int point, boolean visibly) {
    switch (point) {
      case 0x07 -> quoted.append("\\a");
      case '\b' -> quoted.append("\\b");
      case '\f' -> quoted.append("\\f");
      case '\n' -> quoted.append("\\n");
      case '\r' -> quoted.append("\\r");
      case '\t' -> quoted.append("\\t");
      case 0x0b -> quoted.append("\\v");
      case '\\' -> quoted.append("\\\\");
      case '"' -> quoted.append("\\\"");
      default -> {
        if (!visibly || isVisible(point)) {
          quoted.appendCodePoint(point);
        } else if (point < ' ' || point == 0x7f) {
          quoted.append("\\x%02x".formatted(point));
        } else if (Character.isBmpCodePoint(point)) {
          quoted.append("\\u%04x".formatted(point));
        } else {
          quoted.append("\\U%08x".formatted(point));
        }
      }
    }
  }

  private static boolean isVisible(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED ->
          false;
      case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
      case Character.SPACE_SEPARATOR -> point == ' ';
      default -> true;
    };
  }
}
