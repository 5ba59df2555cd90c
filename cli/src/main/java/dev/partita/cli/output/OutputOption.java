package dev.partita.cli.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.function.Supplier;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The option that says in which form a command shows what it found. */
public final class OutputOption {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Option(names = {"-o", "--output"}, paramLabel = "FORMAT", defaultValue = "table",
      converter = Converter.class,
      description = "How the answer is written: table, wide (a table with more columns), json or yaml. Default: ${DEFAULT-VALUE}.") private OutputFormat format =
          OutputFormat.TABLE;

  /** Reads the option's word. */
  static final class Converter implements ITypeConverter<OutputFormat> {
    @Override
    public OutputFormat convert(String word) {
      return Arrays.stream(OutputFormat.values()).filter(format -> format.toString().equals(word)).findFirst()
          .orElseThrow(
              () -> new TypeConversionException("--output is table, wide, json or yaml, not '" + word + "'"));
    }
  }

  /** What was asked for. */
  public OutputFormat format() {
    return format;
  }

  /**
   * The text in the form that was asked for, with a line's end.
   *
   * @param document what JSON and YAML are made of
   * @param table what people see
   */
  public String text(Object document, Supplier<String> table) {
    return switch (format) {
      case TABLE, WIDE -> table.get();
      case JSON -> json(document);
      case YAML -> YamlWriter.write(JSON.convertValue(document, Object.class));
    };
  }

  private static String json(Object document) {
    try {
      return Printable.json(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(document)) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
