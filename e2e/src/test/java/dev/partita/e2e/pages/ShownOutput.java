package dev.partita.e2e.pages;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a page shows as the output of commands. A line or a word of {@code …} stands for anything, and a cell of
 * {@code -}, which says that nothing is known yet, for any one. Everything else has to come out as it stands, but for
 * what no two clusters have alike, and for the width of columns.
 */
final class ShownOutput {
  private static final String ANYTHING = "…";
  private static final String GENERATED = "[bcdfghjklmnpqrstvwxz2456789]{5}";

  /** What differs from cluster to cluster, and what it looks like in another one. */
  private static final List<Differs> DIFFER = List.of(
      new Differs("GPU-[0-9a-f-]{36}", "GPU-[0-9a-f-]{36}"),
      new Differs("\\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\b", "[0-9a-f-]{36}"),
      new Differs("\\b0000:[0-9a-f]{2}:", "[0-9a-f]{4,8}:[0-9a-f]{2}:"),
      new Differs("(?<=[a-z0-9])-[0-9a-z]{9,10}-" + GENERATED + "\\b", "-[0-9a-z]{8,10}-" + GENERATED),
      new Differs("(?<=[a-z0-9])-" + GENERATED + "\\b", "-" + GENERATED),
      new Differs("\\bnode-\\d+(, node-\\d+)+\\b", "[a-z0-9.-]+(?:, [a-z0-9.-]+)*"),
      new Differs("\\bnode-\\d+\\b", "[a-z0-9.-]+"),
      new Differs("(?<=\\bgpu-)\\d+\\b", "\\d+"),
      new Differs("(?<=\\bgpu=\")\\d+(?=\")", "\\d+"),
      new Differs("\\b[0-9A-F]{8}:[0-9A-F]{2}:", "[0-9A-F]{8}:[0-9A-F]{2}:"),
      new Differs("\\b\\d+(?= (cards?|nodes?)\\b)", "\\d+"),
      new Differs("(?<= )\\d+[.]\\dGiB(?= )", "(?:\\d+([.]\\d)?[GM]iB|0B|-)"), // what is used, which nodes tell now and then
      new Differs("(?<=^| )-(?= |$)", "\\S+"),
      new Differs(ANYTHING, ".*?"),
      new Differs("\\s+", "\\s+"));

  private static final Pattern ANY_THAT_DIFFERS =
      Pattern.compile(DIFFER.stream().map(one -> "(" + one.shown().pattern().replaceAll("\\((?!\\?)", "(?:") + ")")
          .collect(Collectors.joining("|")));

  private final Pattern pattern;

  private record Differs(Pattern shown, String elsewhere) {
    Differs(String shown, String elsewhere) {
      this(Pattern.compile(shown), elsewhere);
    }
  }

  ShownOutput(String shown) {
    this.pattern = Pattern.compile(lines(shown).stream().map(ShownOutput::line).collect(Collectors.joining()));
  }

  /** Whether this came out: all of it, unless the page leaves lines out. */
  boolean is(String output) {
    return pattern.matcher(lines(output).stream().map(line -> line + "\n").collect(Collectors.joining())).matches();
  }

  private static List<String> lines(String text) {
    return text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
  }

  private static String line(String shown) {
    if (shown.equals(ANYTHING)) {
      return "(?:.*\\n)*?";
    }
    StringBuilder line = new StringBuilder();
    int done = 0;
    Matcher matcher = ANY_THAT_DIFFERS.matcher(shown);
    while (matcher.find()) {
      line.append(Pattern.quote(shown.substring(done, matcher.start()))).append(elsewhere(matcher));
      done = matcher.end();
    }
    return line.append(Pattern.quote(shown.substring(done))).append("\\n").toString();
  }

  private static String elsewhere(MatchResult found) {
    for (int i = 0; i < DIFFER.size(); i++) {
      if (found.group(i + 1) != null) {
        return DIFFER.get(i).elsewhere();
      }
    }
    throw new IllegalStateException(found.group());
  }
}
