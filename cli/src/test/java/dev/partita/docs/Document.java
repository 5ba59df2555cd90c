package dev.partita.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One Markdown page of this project, cut into prose and fenced blocks.
 *
 * @param path below the project's root
 * @param prose the lines outside of fenced blocks, by their number from 1
 * @param blocks the fenced blocks
 */
record Document(Path path, Map<Integer, String> prose, List<Block> blocks) {
  /** The project's root: tests run in their module's folder. */
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)\\s]+)\\)");
  private static final Pattern CODE_SPAN = Pattern.compile("`([^`]*)`");
  private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*?)#* *");

  /**
   * A fenced block.
   *
   * @param line of its opening fence, from 1
   * @param language what stands behind the fence
   * @param text without the fences
   */
  record Block(int line, String language, String text) {}

  /** A link that does not leave the project: its line, and what stands between the parentheses. */
  record Link(int line, String target) {}

  /** Code within running text: the line where it begins, and what stands between the backticks, on one line. */
  record Span(int line, String text) {}

  /** Every page of the project: what builds make, and what is fetched, is not looked into. */
  static List<Document> all() throws IOException {
    List<Document> documents = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = folder.getFileName().toString();
            boolean skipped =
                !folder.equals(ROOT) && (name.startsWith(".") || name.equals("target") || name.equals("shared"));
            return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().endsWith(".md")) {
              documents.add(read(file));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return documents;
  }

  /** Reads a page by its path below the root. */
  static Document of(String path) {
    return read(ROOT.resolve(path));
  }

  /** The links to other parts of the project, and within the page. */
  List<Link> links() {
    List<Link> links = new ArrayList<>();
    prose.forEach(
        (line, text) -> {
          Matcher matcher = LINK.matcher(CODE_SPAN.matcher(text).replaceAll("x"));
          while (matcher.find()) {
            String target = matcher.group(1);
            if (!target.matches("[a-z]+:.*")) {
              links.add(new Link(line, target));
            }
          }
        });
    return links;
  }

  /** The code in the running text, which may go on in the next line, but not beyond its paragraph. */
  List<Span> spans() {
    List<Span> spans = new ArrayList<>();
    StringBuilder paragraph = new StringBuilder();
    List<Integer> lines = new ArrayList<>();
    int before = 0;
    for (Map.Entry<Integer, String> line : prose.entrySet()) {
      if (line.getKey() != before + 1 || line.getValue().isBlank()) {
        addSpans(paragraph.toString(), lines, spans);
        paragraph.setLength(0);
        lines.clear();
      }
      before = line.getKey();
      paragraph.append(line.getValue()).append('\n');
      lines.add(before);
    }
    addSpans(paragraph.toString(), lines, spans);
    return spans;
  }

  private static void addSpans(String paragraph, List<Integer> lines, List<Span> spans) {
    Matcher span = CODE_SPAN.matcher(paragraph);
    while (span.find()) {
      int line = (int) paragraph.substring(0, span.start()).chars().filter(each -> each == '\n').count();
      spans.add(new Span(lines.get(line), span.group(1).strip().replaceAll("\\s+", " ")));
    }
  }

  /** The anchors that GitHub gives the headings: the second of a name gets {@code -1}, and so on. */
  Set<String> anchors() {
    Set<String> anchors = new LinkedHashSet<>();
    Map<String, Integer> seen = new HashMap<>();
    for (String text : prose.values()) {
      Matcher heading = HEADING.matcher(text);
      if (heading.matches()) {
        String slug =
            heading.group(1).replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1").toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}_ -]", "").strip().replace(' ', '-');
        int before = seen.merge(slug, 1, Integer::sum) - 1;
        anchors.add(before == 0 ? slug : slug + "-" + before);
      }
    }
    return anchors;
  }

  private static Document read(Path file) {
    Map<Integer, String> prose = new java.util.TreeMap<>();
    List<Block> blocks = new ArrayList<>();
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int opened = -1;
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      boolean fence = line.strip().startsWith("```");
      if (opened < 0 && !fence) {
        prose.put(i + 1, line);
      } else if (opened < 0) {
        opened = i;
        text.setLength(0);
      } else if (fence) {
        blocks
            .add(new Block(opened + 1, lines.get(opened).strip().substring(3).strip(), text.toString().stripIndent()));
        opened = -1;
      } else {
        text.append(line).append('\n');
      }
    }
    if (opened >= 0) {
      throw new IllegalStateException(file + ":" + (opened + 1) + ": the block does not end");
    }
    return new Document(ROOT.relativize(file), prose, blocks);
  }
}
