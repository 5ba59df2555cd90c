package dev.partita.cli.shell;

import java.util.LinkedHashSet;
import picocli.CommandLine;

/** The manual page, in the man macros of roff: each command's own help, in a section of its own. */
final class ManPage {
  private static final int WIDTH = 78;

  private ManPage() {}

  /** The page of the program and all its commands. */
  static String of(CommandLine line) {
    String name = line.getCommandName();
    StringBuilder page = new StringBuilder();
    page.append(".TH ").append(name.toUpperCase(java.util.Locale.ROOT)).append(" 1\n.SH NAME\n").append(name)
        .append(" \\- ").append(escaped(String.join(" ", line.getCommandSpec().usageMessage().description())))
        .append('\n');
    section(line, page);
    return page.toString();
  }

  private static void section(CommandLine line, StringBuilder page) {
    page.append(".SH ").append(escaped(line.getCommandSpec().qualifiedName().toUpperCase(java.util.Locale.ROOT)))
        .append("\n.nf\n");
    line.setUsageHelpWidth(WIDTH).getUsageMessage(CommandLine.Help.Ansi.OFF).lines()
        .forEach(text -> page.append(escaped(text.stripTrailing())).append('\n'));
    page.append(".fi\n");
    for (CommandLine sub : new LinkedHashSet<>(line.getSubcommands().values())) {
      if (!sub.getCommandSpec().usageMessage().hidden()) {
        section(sub, page);
      }
    }
  }

  /** Backslashes and hyphens mean something to roff, and so do dots and quotes at the beginning of a line. */
  private static String escaped(String text) {
    String plain = text.replace("\\", "\\e").replace("-", "\\-");
    return plain.startsWith(".") || plain.startsWith("'") ? "\\&" + plain : plain;
  }
}
