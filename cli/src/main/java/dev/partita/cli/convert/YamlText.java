package dev.partita.cli.convert;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Map;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.representer.Representer;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * Reads YAML as kubectl does: 1.1, with its octal numbers and words for booleans, but neither dates nor numbers to the
 * base of 60.
 */
final class YamlText {
  /** Characters of one document; what an API server takes is far below. */
  private static final int MAX_LENGTH = 64 << 20;

  /** Characters of one line, of which the parser takes time by the square; an API server takes no object so large. */
  private static final int MAX_LINE = 2 << 20;

  /** Collections in one another, as JSON's reader has it; schemas in CustomResourceDefinitions have more than 50. */
  static final int MAX_DEPTH = 1000;

  private static final String FIRST_OF_NUMBER = "-+0123456789.";

  private YamlText() {}

  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  /** Reads one document: what begins with a brace as JSON, which may have tabs, and as YAML where it is none. */
  static Object read(String text) {
    if (text.stripLeading().startsWith("{")) {
      try {
        return JSON.readValue(text, Object.class);
      } catch (JsonProcessingException notJson) {
        // YAML, perhaps: its reader says what is wrong otherwise.
      }
    }
    if (text.lines().anyMatch(line -> line.length() > MAX_LINE)) {
      throw new YAMLException("it has a line of more than " + (MAX_LINE >> 20) + " MiB");
    }
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(MAX_LENGTH);
    options.setAllowDuplicateKeys(false);
    options.setNestingDepthLimit(MAX_DEPTH);
    options.setMaxAliasesForCollections(Integer.MAX_VALUE); // what they stand for is limited instead
    DumperOptions unused = new DumperOptions();
    return new Yaml(new KubectlConstructor(options), new Representer(unused), unused, options, new KubectlResolver())
        .load(text);
  }

  /** A key that is no scalar, which JSON cannot have: {@code {{ x }}} is a mapping whose key is a mapping. */
  private static final class KeyException extends MarkedYAMLException {
    private static final long serialVersionUID = 1;

    KeyException(Mark where) {
      super(null, null, "a key is a mapping or a list", where);
    }
  }

  /**
   * Reads octal numbers also as YAML 1.2 writes them, such as 0o644, and refuses keys that are no scalars: so does the
   * parser behind kubectl. For one document.
   */
  private static final class KubectlConstructor extends SafeConstructor {
    private boolean isMeasured;

    KubectlConstructor(LoaderOptions options) {
      super(options);
      yamlConstructors.put(Tag.INT, new ConstructYamlInt() {
        @Override
        public Object construct(Node node) {
          ScalarNode scalar = (ScalarNode) node;
          return super.construct(new ScalarNode(node.getTag(), scalar.getValue().replaceFirst("^([-+]?)0o", "$10"),
              node.getStartMark(), node.getEndMark(), scalar.getScalarStyle()));
        }
      });
    }

    /** Of all nodes the document comes first. */
    @Override
    protected Object constructObject(Node node) {
      if (!isMeasured) {
        isMeasured = true;
        AliasedSize.check(node);
      }
      return super.constructObject(node);
    }

    @Override
    protected void constructMapping2ndStep(MappingNode node, Map<Object, Object> mapping) {
      for (NodeTuple entry : node.getValue()) {
        if (!(entry.getKeyNode() instanceof ScalarNode)) {
          throw new KeyException(entry.getKeyNode().getStartMark());
        }
      }
      super.constructMapping2ndStep(node, mapping);
    }
  }

  private static final class KubectlResolver extends Resolver {
    private static final Pattern INT =
        Pattern.compile("[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)");
    private static final Pattern FLOAT =
        Pattern.compile(
            "[-+]?(?:[0-9][0-9_]*+\\.?[0-9_]*+|\\.[0-9][0-9_]*+)(?:[eE][-+]?[0-9]+)?|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)");

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
}
