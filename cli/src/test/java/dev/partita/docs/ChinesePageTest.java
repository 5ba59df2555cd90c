package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Holds the page in Chinese against the English one that rules: it is a short one, and nobody reads both. */
class ChinesePageTest {
  private static final String HEAD_OF_DIALECTS = "| 方案 | 原来的写法 | 转换为 |";
  private static final Pattern CODE_SPAN = Pattern.compile("`([^`]+)`");

  @Test
  void whatItSaysOfDialectsStandsInTheReference() throws IOException {
    String reference = Files.readString(Document.ROOT.resolve("docs/reference/dialects.md"));
    List<String> named =
        Document.of("docs/zh/README.md").prose().values().stream()
            .dropWhile(line -> !line.equals(HEAD_OF_DIALECTS))
            .takeWhile(line -> line.startsWith("|"))
            .flatMap(line -> CODE_SPAN.matcher(line).results().map(ChinesePageTest::inner))
            .toList();
    assertThat(named).hasSizeGreaterThan(30).allMatch(reference::contains);
  }

  private static String inner(MatchResult span) {
    return span.group(1);
  }
}
