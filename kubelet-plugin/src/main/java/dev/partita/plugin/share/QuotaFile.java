package dev.partita.plugin.share;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text of a quota file; hook-lib/include/partita/quota_file.h describes the format. */
public final class QuotaFile {
  /** Name of the file in a share's folder. */
  public static final String NAME = "quota";

  private static final Pattern GENERATION = Pattern.compile("(?m)^generation ([0-9]{1,18})$");
  private static final Pattern CLAIM = Pattern.compile("(?m)^claim ([^/\n]+/[^/\n]+)$");
  private static final Pattern OVERHEAD = Pattern.compile("(?m)^overhead ([0-9]{1,18})$");

  private static final Pattern CONTEXT = Pattern.compile("(?m)^context ([0-9]{1,18})$");
  private static final Pattern OVERHEAD_LINES = Pattern.compile("(?m)^(?:overhead|context) [0-9]+\n");
  private static final Pattern CARD = Pattern.compile("(?m)^gpu (\\S{1,128})$");
  private static final Pattern MEMORY = Pattern.compile("(?m)^memory ([0-9]{1,18})$");
  private static final Pattern MEMORY_LINE = Pattern.compile("(?m)^memory [0-9]+\n");
  private static final Pattern PHYSICAL = Pattern.compile("(?m)^physical ([0-9]{1,18})$");
  private static final Pattern CORES = Pattern.compile("(?m)^cores ([0-9]{1,3})$");

  /**
   * What a quota file allows.
   *
   * @param card UUID of the card, or of the MIG instance, of which the share is
   * @param memoryBytes bytes of device memory
   * @param physicalBytes bytes of the card
   * @param cores percent of the card, 0 for no limit
   */
  public record Limits(String card, long memoryBytes, long physicalBytes, int cores) {}

  /**
   * What contexts and modules take.
   *
   * @param bytes of the share's memory, beyond what its ledger has
   * @param contextBytes what a context takes on cards of the model, which the library charges when one is made; 0 where
   *        nobody has measured it
   */
  public record Overhead(long bytes, long contextBytes) {
    private String lines() {
      return (bytes == 0 ? "" : "overhead " + bytes + "\n")
          + (contextBytes == 0 ? "" : "context " + contextBytes + "\n");
    }
  }

  private QuotaFile() {}

  /**
   * @param generation counts the contents that this share has had, from 1
   */
  static String text(ClaimRef claim, Grant grant, Share share, Overhead overhead, long generation) {
    return String.format(Locale.ROOT, """
        partita-quota 1
        generation %d
        claim %s
        claim-uid %s
        gpu %s
        memory %d
        %s%scores %d
        core-limit %s
        priority %d
        end
        """,
        generation,
        claim.qualifiedName(),
        claim.uid(),
        grant.use().uuidInContainers(grant.card()),
        share.memoryBytes(),
        overhead.lines(),
        share.physicalBytes() == share.memoryBytes() ? "" : "physical " + share.physicalBytes() + "\n",
        share.cores(),
        share.coreLimit().name().toLowerCase(Locale.ROOT),
        share.priority());
  }

  /** The same content as an earlier one keeps its generation; another one takes the next. */
  static String after(String earlier, ClaimRef claim, Grant grant, Share share, Overhead overhead) {
    long last = number(GENERATION, earlier);
    String same = text(claim, grant, share, overhead, last);
    return same.equals(earlier) ? same : text(claim, grant, share, overhead, last + 1);
  }

  /** The same content with another overhead; what is no quota file stays as it is. */
  static String withOverhead(String earlier, Overhead overhead) {
    if (!isComplete(earlier) || overheadOf(earlier).equals(overhead)) {
      return earlier;
    }
    String without = OVERHEAD_LINES.matcher(earlier).replaceAll("");
    String with = MEMORY_LINE.matcher(without).replaceFirst("$0" + overhead.lines());
    return GENERATION.matcher(with).replaceFirst("generation " + (number(GENERATION, earlier) + 1));
  }

  /** The same content with a generation behind that of another one, if that is all of a quota file. */
  static String behind(String text, String begun) {
    return isComplete(begun)
        ? GENERATION.matcher(text)
            .replaceFirst("generation " + (Math.max(number(GENERATION, text), number(GENERATION, begun)) + 1))
        : text;
  }

  /** Whether a text is all of a quota file. */
  static boolean isComplete(String text) {
    return text.startsWith("partita-quota 1\n") && text.endsWith("\nend\n");
  }

  /** What a quota file allows; empty if it cannot be used. */
  static Optional<Limits> limitsOf(String text) {
    Matcher card = CARD.matcher(text);
    long memory = Math.min(number(MEMORY, text), Share.MOST_BYTES);
    long physical = number(PHYSICAL, text);
    if (!card.find() || memory == 0) {
      return Optional.empty();
    }
    long onCard = physical == 0 ? memory : Math.min(physical, memory);
    return Optional.of(new Limits(card.group(1), memory, onCard, (int) Math.min(100, number(CORES, text))));
  }

  /** The overhead that a quota file says. */
  static Overhead overheadOf(String text) {
    return new Overhead(number(OVERHEAD, text), number(CONTEXT, text));
  }

  /** {@code namespace/name} of the claim that a quota file is of, if it says so. */
  static Optional<String> claimOf(String text) {
    Matcher found = CLAIM.matcher(text);
    return found.find() ? Optional.of(found.group(1)) : Optional.empty();
  }

  private static long number(Pattern line, String text) {
    Matcher found = line.matcher(text);
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }
}
