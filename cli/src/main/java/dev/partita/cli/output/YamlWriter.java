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
 * Writes YAML. A string is quoted wherever any reader could take it for something else, and what would move a
 * terminal's cursor or turn its writing around is written as escapes, whoever wrote it.
 */
public final class YamlWriter {
  private static final String FIRST_OF_NUMBER = "-+0123456789.";

  /** But for what makes texts of several lines. */
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

  /**
   * Texts of several lines stay legible; what cannot be seen, and line breaks of other kinds, are written as escapes.
   */
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
