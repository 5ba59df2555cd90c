package dev.partita.e2e.pages;

import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A fenced block of a page of the documentation.
 *
 * @param line of its opening fence, from 1
 * @param language what stands behind the fence
 * @param text without the fences, and without their indentation
 */
public record FencedBlock(long line, String language, String text) {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^( *)```(\\w+)\\n(.*?)^ *```$");

  /** Those of a page, in its order. */
  static Stream<FencedBlock> in(String markdown) {
    return BLOCK.matcher(markdown).results().map(
        block -> new FencedBlock(markdown.substring(0, block.start()).lines().count() + 1, block.group(2),
            block.group(3).replaceAll("(?m)^" + block.group(1), "")));
  }

  /** What a page's blocks of YAML say, in its order. */
  public static Stream<String> yaml(String markdown) {
    return in(markdown).filter(block -> block.language().equals("yaml")).map(FencedBlock::text);
  }
}
