package dev.partita.cli;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/**
 * Finds the word that somebody meant who mistyped it. picocli proposes words of some letters in common as well: of
 * {@code nonsense} it makes {@code release}.
 */
final class NearWord {
  private NearWord() {}

  /**
   * The nearest word. A third of the typed letters may be wrong: {@code rezise} is {@code resize}. So of two letters,
   * as in {@code -x}, none may.
   *
   * @return empty if none is that near
   */
  static Optional<String> of(String typed, Collection<String> known) {
    int most = typed.length() / 3;
    String lower = typed.toLowerCase(Locale.ROOT);
    return known.stream().min(Comparator.comparingInt(word -> distance(lower, word)))
        .filter(word -> distance(lower, word) <= most);
  }

  /**
   * The optimal string alignment distance: letters to add, to leave out, to replace, and neighbours to exchange. From
   * {@code tpo} to {@code top} it is 1.
   */
  private static int distance(String a, String b) {
    int[][] least = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        least[i][j] = i == 0 || j == 0 ? i + j : step(least, a, b, i, j);
      }
    }
    return least[a.length()][b.length()];
  }

  private static int step(int[][] least, String a, String b, int i, int j) {
    int replaced = least[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
    int one = Math.min(replaced, Math.min(least[i - 1][j], least[i][j - 1]) + 1);
    boolean isExchanged = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    return isExchanged ? Math.min(one, least[i - 2][j - 2] + 1) : one;
  }
}
