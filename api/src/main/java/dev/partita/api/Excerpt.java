package dev.partita.api;

/** Shortens texts that anybody may have written, at any length. */
public final class Excerpt {
  private Excerpt() {}

  /**
   * The text; of a long one the beginning, and an ellipsis behind it. No half of a character is left: it could be
   * written into no object, and what is read from there would never be what was written.
   *
   * @param most characters of the text, as Java counts them
   */
  public static String of(String text, int most) {
    return text.length() <= most ? text : beginning(text, most) + "…";
  }

  /** The same without an ellipsis. */
  public static String beginning(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
  }
}
