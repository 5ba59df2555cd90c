package dev.partita.controller.web.view;

import java.util.Locale;
import java.util.Map;

/**
 * What part of a list is asked for.
 *
 * @param text what a row must contain, in lower case; empty for every row
 * @param page from 1
 * @param sort by which column, as the list names it; empty for its own order
 */
public record Query(String text, int page, String sort) {
  private static final int LONGEST = 253;

  /** Reads {@code q}, {@code page} and {@code sort}; what cannot be read counts as not said. */
  public static Query of(Map<String, String> parameters) {
    String text = parameters.getOrDefault("q", "").strip().toLowerCase(Locale.ROOT);
    String page = parameters.getOrDefault("page", "");
    return new Query(text.length() <= LONGEST ? text : text.substring(0, LONGEST),
        page.matches("[1-9]\\d{0,5}") ? Integer.parseInt(page) : 1, parameters.getOrDefault("sort", ""));
  }

  /** Whether one of these contains the text. */
  boolean matches(String... words) {
    for (String word : words) {
      if (word.toLowerCase(Locale.ROOT).contains(text)) {
        return true;
      }
    }
    return text.isEmpty();
  }
}
