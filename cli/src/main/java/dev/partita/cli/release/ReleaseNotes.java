package dev.partita.cli.release;

import dev.partita.cli.checkout.Subprocess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is new: the commits since the release before, by the part that their messages name. */
final class ReleaseNotes {
  /** A part is one word, or several that do not begin as a sentence does. */
  private static final Pattern OF_A_PART = Pattern.compile("([^ :]+|[^A-Z:][^:]*): (.*)");

  private ReleaseNotes() {}

  /** Of a checkout: since its newest tag that is not the commit itself, or since its beginning. */
  static String of(Path checkout, ReleaseFacts facts) {
    Subprocess tag = git(checkout, "describe", "--tags", "--abbrev=0", "HEAD^");
    String since = tag.status() == 0 ? tag.out().strip() : "";
    Subprocess log = git(checkout, "log", "--no-merges", "--format=%s", since.isEmpty() ? "HEAD" : since + "..HEAD");
    return text(facts, since, log.status() == 0 ? log.out().lines().toList() : List.of());
  }

  private static Subprocess git(Path checkout, String... arguments) {
    return Subprocess.run(Map.of(), java.util.stream.Stream
        .concat(java.util.stream.Stream.of("git", "-C", checkout.toString()), java.util.stream.Stream.of(arguments))
        .toList());
  }

  /**
   * @param since the tag before; empty for the first release
   * @param subjects of commits, the newest first, as {@code part: what}
   */
  static String text(ReleaseFacts facts, String since, List<String> subjects) {
    Map<String, List<String>> byPart = new TreeMap<>();
    for (String subject : subjects) {
      Matcher named = OF_A_PART.matcher(subject);
      byPart.computeIfAbsent(named.matches() ? named.group(1) : "other", part -> new ArrayList<>())
          .add(named.matches() ? named.group(2) : subject);
    }
    StringBuilder notes = new StringBuilder("# Partita %s%n%n".formatted(facts.version()));
    notes.append("Images: `%s/<image>:%s`. Commit: `%s`.%n".formatted(facts.registry(), facts.tag(),
        facts.provenance().revision()));
    notes.append(since.isEmpty() ? "%nThe first release.%n".formatted() : "%n## Changes since %s%n".formatted(since));
    if (!since.isEmpty()) {
      byPart.forEach((part, changes) -> {
        notes.append("%n### %s%n".formatted(part));
        changes.forEach(change -> notes.append("- ").append(change).append('\n'));
      });
    }
    return notes.toString();
  }
}
