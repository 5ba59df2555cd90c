package dev.partita.e2e.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The commands that a page names within sentences, as {@code kubectl get pods} there. What {@code partita} is told is
 * not among them: DocumentsTest asks the program itself what it knows.
 */
record RunningText(List<Named> commands) {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^( *)```.*?^ *```$");
  private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
  private static final Pattern COMMAND =
      Pattern.compile(
          "(?:kubectl(?! partita)|helm|kubeadm|kind|docker|podman|skopeo|crane|ctr|crictl|cosign|nvidia-\\S+|mvn|sh|bash|git|systemctl"
              + "|journalctl|ausearch|chcon|umount|rm|chmod|chown|mmdebstrap|sha256sum|dpkg|apt|apt-get|jq|curl|tar) \\S.*");

  /** Between the commands of a line, and between the names that one word lists. */
  private static final Pattern BETWEEN = Pattern.compile("\\||&&|;|\\$\\(");
  private static final Pattern BETWEEN_WORDS = Pattern.compile("[\\s,]+");

  /**
   * A command.
   *
   * @param where page and line, for people
   * @param command on one line
   */
  record Named(String where, String command) {
    /** Whether somebody who types this block types this command in it, perhaps with more words. */
    boolean isPartOf(String typed) {
      return BETWEEN.splitAsStream(typed.replace("\\\n", " ")).flatMap(String::lines).anyMatch(this::isPartOfOne);
    }

    private boolean isPartOfOne(String typed) {
      List<String> words = words(command);
      List<String> others = words(typed);
      int found = 0;
      for (String other : others) {
        if (found < words.size() && words.get(found).equals(other)) {
          found++;
        }
      }
      return found == words.size() && others.subList(0, 2).equals(words.subList(0, 2));
    }

    private static List<String> words(String command) {
      return BETWEEN_WORDS.splitAsStream(command.strip()).toList();
    }
  }

  static RunningText of(String name, String markdown) {
    String text = BLOCK.matcher(markdown).replaceAll(block -> "\n".repeat((int) block.group().lines().count() - 1));
    List<Named> commands = new ArrayList<>();
    Matcher span = SPAN.matcher(text);
    while (span.find()) {
      String command = span.group(1).strip().replaceAll("\\s+", " ");
      if (COMMAND.matcher(command).matches()) {
        commands.add(new Named(name + ":" + text.substring(0, span.start()).lines().count(), command));
      }
    }
    return new RunningText(List.copyOf(commands));
  }
}
