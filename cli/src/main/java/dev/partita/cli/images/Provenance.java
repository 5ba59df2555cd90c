package dev.partita.cli.images;

import dev.partita.cli.checkout.Subprocess;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which sources an image was made of. The same sources give the same time, so that the same images come out.
 *
 * @param version of the project
 * @param revision the commit, with {@code -dirty} behind it where the sources are not what it has; empty where there is
 *        none
 * @param created the commit's time, or {@code SOURCE_DATE_EPOCH}'s
 */
public record Provenance(String version, String revision, Instant created) {
  /** Asks git about a checkout. Without git, or in a folder that is none of its, there is no revision. */
  public static Provenance of(Path checkout, String version, Map<String, String> environment) {
    Subprocess commit =
        Subprocess.run(Map.of(), List.of("git", "-C", checkout.toString(), "show", "-s", "--format=%H %ct", "HEAD"));
    String[] words = commit.status() == 0 ? commit.out().strip().split(" ", -1) : new String[]{"", "0"};
    String seconds = environment.getOrDefault("SOURCE_DATE_EPOCH", words[1]);
    return new Provenance(version, words[0] + (words[0].isEmpty() || isClean(checkout) ? "" : "-dirty"),
        Instant.ofEpochSecond(seconds.matches("\\d{1,11}") ? Long.parseLong(seconds) : 0));
  }

  /** Files that git is told to ignore do not count, others that it does not have do. */
  private static boolean isClean(Path checkout) {
    Subprocess changes = Subprocess.run("git", "-C", checkout.toString(), "status", "--porcelain");
    return changes.status() == 0 && changes.out().isBlank();
  }

  /** The labels of an image: OCI's own names. */
  Map<String, String> labels(String image) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("org.opencontainers.image.title", image);
    labels.put("org.opencontainers.image.version", version);
    labels.put("org.opencontainers.image.licenses", "Apache-2.0");
    if (!revision.isEmpty()) {
      labels.put("org.opencontainers.image.revision", revision);
    }
    return labels;
  }
}
