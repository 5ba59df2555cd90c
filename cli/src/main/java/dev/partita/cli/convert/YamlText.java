package dev.partita.cli.convert;

import java.util.regex.Pattern;
import org.yaml.snakeyaml.DumperOptions.FlowStyle;
import org.yaml.snakeyaml.DumperOptions.ScalarStyle;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.representer.Representer;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * YAML as kubectl reads it: 1.1, with its octal numbers and words for booleans, but neither dates nor numbers to the
 * base of 60. What is written is quoted wherever any reader could take a string for something else.
 */
final class YamlText {
  /** Characters of one document; what an API server takes is far below. */
  private static final int MAX_LENGTH = 64 << 20;

  private static final String FIRST_OF_NUMBER = "-+0123456789.";

  private YamlText() {}

  /** Reads one document. */
  static Object read(String text) {
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(MAX_LENGTH);
    options.setAllowDuplicateKeys(false);
    DumperOptions unused = new DumperOptions();
    return new Yaml(new SafeConstructor(options), new Representer(unused), unused, options, new KubectlResolver())
        .load(text);
  }

  /** Writes one document of maps, lists and values, in the order in which they are. */
  static String write(Object document) {
    DumperOptions options = new DumperOptions();
    options.setDefaultFlowStyle(FlowStyle.BLOCK);
    options.setSplitLines(false);
    options.setIndent(2);
    LoaderOptions unused = new LoaderOptions();
    return new Yaml(new SafeConstructor(unused), new BlockRepresenter(options), options, unused, new AnyResolver())
        .dump(document);
  }

  /**
   * Texts of several lines stay legible; what cannot be seen, and line breaks of other kinds, are written as escapes.
   */
  private static final class BlockRepresenter extends Representer {
    private static final Pattern UNSEEN = Pattern.compile("[\\p{Cc}\\u2028\\u2029\\uFEFF&&[^\\n\\t]]");

    BlockRepresenter(DumperOptions options) {
      super(options);
      representers.put(String.class, text -> representScalar(Tag.STR, (String) text, style((String) text)));
    }

    private static ScalarStyle style(String text) {
      if (UNSEEN.matcher(text).find()) {
        return ScalarStyle.DOUBLE_QUOTED;
      }
      return text.indexOf('\n') >= 0 ? ScalarStyle.LITERAL : ScalarStyle.PLAIN;
    }
  }

  private static final class KubectlResolver extends Resolver {
    private static final Pattern INT =
        Pattern.compile("[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)");
    private static final Pattern FLOAT =
        Pattern.compile(
            "[-+]?(?:[0-9][0-9_]*\\.?[0-9_]*|\\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)");

    @Override
    protected void addImplicitResolvers() {
      addImplicitResolver(Tag.BOOL, BOOL, "yYnNtTfFoO");
      addImplicitResolver(Tag.INT, INT, FIRST_OF_NUMBER);
      addImplicitResolver(Tag.FLOAT, FLOAT, FIRST_OF_NUMBER);
      addImplicitResolver(Tag.MERGE, MERGE, "<");
      addImplicitResolver(Tag.NULL, NULL, "~nN\0");
      addImplicitResolver(Tag.NULL, EMPTY, null);
    }
  }

  /** Whatever some version of YAML reads as something else than a string. */
  private static final class AnyResolver extends Resolver {
    private static final Pattern LETTER = Pattern.compile("[yYnN]");
    private static final Pattern NUMBER_LIKE = Pattern.compile("[-+.]?[0-9][-+.:_0-9a-fA-FxXoOTZ]*");

    @Override
    protected void addImplicitResolvers() {
      super.addImplicitResolvers();
      addImplicitResolver(Tag.BOOL, LETTER, "yYnN");
      addImplicitResolver(Tag.TIMESTAMP, NUMBER_LIKE, FIRST_OF_NUMBER);
    }
  }
}
