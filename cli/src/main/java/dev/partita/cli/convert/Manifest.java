package dev.partita.cli.convert;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * The documents of one file, each with the text that it came in.
 *
 * @param text as it was, without the marker between documents
 * @param object what is in it; missing where there is nothing
 */
record Manifest(String text, JsonNode object) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A marker in the first column ends a document, whatever is around it (YAML 1.1, section 9.1). */
  private static final Pattern MARKER = Pattern.compile("^---(?:[ \\t]*(?=#)|[ \\t]+|$)\\n?", Pattern.MULTILINE);

  /**
   * Reads a file's documents.
   *
   * @throws CommandFailure if it is neither YAML nor JSON, with file and line
   */
  static List<Manifest> read(String file, String text) {
    String plain = text.replace("\r\n", "\n");
    List<Manifest> documents = new ArrayList<>();
    Matcher marker = MARKER.matcher(plain);
    int start = 0;
    long before = 0;
    while (marker.find()) {
      add(file, plain.substring(start, marker.start()), before, documents);
      before += lines(plain.substring(start, marker.end()));
      start = marker.end();
    }
    add(file, plain.substring(start), before, documents);
    return documents;
  }

  private static void add(String file, String text, long before, List<Manifest> documents) {
    long line = before;
    for (String object : objects(text)) {
      documents.add(one(file, object, line));
      line += lines(object);
    }
  }

  /**
   * Splits JSON objects that stand one behind the other, as {@code jq -c '.items[]'} writes them: kubectl takes them,
   * and they are no YAML. All else is one text.
   */
  private static List<String> objects(String text) {
    if (!text.stripLeading().startsWith("{")) {
      return List.of(text);
    }
    List<String> objects = new ArrayList<>();
    int start = 0;
    try (JsonParser parser = JSON.createParser(text)) {
      while (parser.nextToken() != null) {
        parser.skipChildren();
        int end = (int) parser.currentLocation().getCharOffset();
        end += text.startsWith("\n", end) ? 1 : 0;
        objects.add(text.substring(start, end));
        start = end;
      }
    } catch (IOException _) {
      return List.of(text); // in YAML's own style, or broken: which of the two, YAML's parser says
    }
    return objects.size() > 1 ? objects : List.of(text);
  }

  private static long lines(String text) {
    return text.chars().filter(c -> c == '\n').count();
  }

  /** @param before how many lines of the file stand before it */
  private static Manifest one(String file, String text, long before) {
    try {
      Object document = YamlText.read(text);
      return new Manifest(text, JSON.valueToTree(document));
    } catch (MarkedYAMLException e) {
      long line = before + 1 + (e.getProblemMark() == null ? 0 : e.getProblemMark().getLine());
      throw CommandFailure.failed(file + ":" + line + ": is not YAML: " + e.getProblem() + hint(text));
    } catch (YAMLException | IllegalArgumentException e) {
      throw CommandFailure.failed(file + ":" + (before + 1) + ": is not YAML: " + e.getMessage() + hint(text));
    }
  }

  private static String hint(String text) {
    return text.contains("{{") ? "; where this is of a Helm chart, convert what `helm template` writes" : "";
  }
}
