package dev.partita.cli.demo.screen;

import dev.partita.api.Bytes;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A card's memory as a bar, for the terminal.
 *
 * @param name such as {@code node-a gpu-0}
 * @param product such as {@code NVIDIA H200}
 * @param memory bytes
 * @param shares who has what of it
 */
public record CardPicture(String name, String product, long memory, List<Share> shares) {
  private static final int WIDTH = 40;

  /**
   * A share of a card.
   *
   * @param owner who has it; its first letter fills the bar
   * @param memory bytes
   */
  record Share(String owner, long memory) {}

  public CardPicture {
    shares = List.copyOf(shares);
  }

  /** One line: name, bar, and the shares in words. */
  public String line() {
    StringBuilder bar = new StringBuilder();
    for (Share share : shares) {
      long cells = Math.max(1, Math.round((double) WIDTH * share.memory() / memory));
      bar.repeat(share.owner().substring(0, 1).toUpperCase(Locale.ROOT), (int) Math.min(cells, WIDTH - bar.length()));
    }
    bar.repeat('.', WIDTH - bar.length());
    String words =
        shares.isEmpty()
            ? "free"
            : shares.stream().map(share -> share.owner() + " " + Bytes.words(share.memory()))
                .collect(Collectors.joining(" + "));
    return "%-12s %-21s [%s] %s of %s".formatted(name, product, bar, words, Bytes.words(memory));
  }
}
