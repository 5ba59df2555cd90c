package dev.partita.cli.output;

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
 * Writes YAML that every reader understands alike, and that is safe for a terminal. A string is quoted wherever some
 * version of YAML would take it for a number, a truth value or a date ({@code yes}, {@code 0644}); characters that move
 * the cursor or turn the writing around are escaped.
 */
public final class YamlWriter {
  private static final String FIRST_OF_NUMBER = "-+0123456789.";

  /** What is escaped: of {@link Printable#MOVERS} all but tabs and ends of lines, which scripts have. */
  private static final Pattern UNSEEN = Pattern.compile("[" + Printable.MOVERS + "&&[^\\n\\t]]");

  private YamlWriter() {}

  /** One document of maps, lists and values, in the order in which they are. */
  public static String write(Object document) {
    DumperOptions options = new DumperOptions();
    options.setDefaultFlowStyle(FlowStyle.BLOCK);
    options.setSplitLines(false);
    options.setIndent(2);
    LoaderOptions unused = new LoaderOptions();
    return new Yaml(new SafeConstructor(unused), new BlockRepresenter(options), options, unused, new AnyResolver())
        .dump(document)
        .transform(YamlWriter::escaped);
  }

  /** What is left of them stands between double quotes. */
  private static String escaped(String yaml) {
    return UNSEEN.matcher(yaml).replaceAll(found -> {
      int character = found.group().codePointAt(0);
      return String.format(Character.isBmpCodePoint(character) ? "\\\\u%04x" : "\\\\U%08x", character);
    });
  }

  /** Writes strings of several lines as blocks, and such with characters to escape between double quotes. */
  private static final class BlockRepresenter extends Representer {
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

  /** Takes for something else than a string whatever some version of YAML does, so that it is quoted. */
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
