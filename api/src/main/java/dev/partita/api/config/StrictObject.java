package dev.partita.api.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.partita.api.Amount;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;

/** One JSON object that is read field by field; it remembers what was asked for, and collects what is wrong. */
final class StrictObject {
  private final JsonNode node;
  private final String path;
  private final List<FieldError> errors;
  private final Set<String> known = new LinkedHashSet<>();

  private StrictObject(JsonNode node, String path, List<FieldError> errors) {
    this.node = node;
    this.path = path;
    this.errors = errors;
  }

  static StrictObject top(JsonNode document) {
    List<FieldError> errors = new ArrayList<>();
    if (!document.isObject()) {
      errors.add(new FieldError("", "must be an object, not " + typeOf(document)));
      return new StrictObject(JsonNodeFactory.instance.objectNode(), "", errors);
    }
    return new StrictObject(document, "", errors);
  }

  StrictObject object(String field) {
    JsonNode value = take(field);
    if (!value.isObject() && !isAbsent(value)) {
      report(field, "must be an object, not " + typeOf(value));
    }
    return new StrictObject(value.isObject() ? value : JsonNodeFactory.instance.objectNode(), at(field), errors);
  }

  String text(String field, String otherwise) {
    JsonNode value = take(field);
    if (isAbsent(value)) {
      return otherwise;
    }
    if (!value.isTextual()) {
      report(field, "must be a string, not " + typeOf(value));
      return otherwise;
    }
    return value.textValue();
  }

  /**
   * Strings of a list, which if it is written has some; empty if it is not.
   *
   * @param most how many it may have
   * @param wrong what is wrong with one of them; empty if nothing is
   */
  SortedSet<String> texts(String field, int most, Function<String, Optional<String>> wrong) {
    JsonNode value = take(field);
    if (isAbsent(value)) {
      return Collections.emptySortedSet();
    }
    if (!value.isArray()) {
      report(field, "must be a list, not " + typeOf(value));
      return Collections.emptySortedSet();
    }
    if (value.isEmpty() || value.size() > most) {
      report(field,
          value.isEmpty()
              ? "must not be empty; leave it out"
              : "must have at most " + most + " entries, not " + value.size());
      return Collections.emptySortedSet();
    }
    SortedSet<String> texts = new TreeSet<>();
    for (int i = 0; i < value.size(); i++) {
      JsonNode each = value.get(i);
      Optional<String> problem =
          each.isTextual() ? wrong.apply(each.textValue()) : Optional.of("must be a string, not " + typeOf(each));
      String at = field + "[" + i + "]";
      problem.ifPresentOrElse(words -> report(at, words), () -> texts.add(each.textValue()));
    }
    return texts;
  }

  /**
   * Objects of a list, each with what is wrong with it apart, at its place in the list; none if it is not written.
   *
   * @param most how many it may have
   */
  List<JsonNode> entries(String field, int most) {
    JsonNode value = take(field);
    if (isAbsent(value)) {
      report(field, "must be a list");
      return List.of();
    }
    if (!value.isArray() || value.isEmpty() || value.size() > most) {
      report(field, "must be a list of 1 to " + most + " entries, not "
          + (value.isArray() ? value.size() + " entries" : typeOf(value)));
      return List.of();
    }
    List<JsonNode> entries = new ArrayList<>();
    value.forEach(entries::add);
    return entries;
  }

  /** A text that must be there. */
  String requiredText(String field, Function<String, Optional<String>> wrong) {
    if (!has(field)) {
      take(field);
      report(field, "is missing");
      return "";
    }
    String text = text(field, "");
    if (node.path(field).isTextual()) {
      wrong.apply(text).ifPresent(words -> report(field, words));
    }
    return text;
  }

  /** Whether something is written there, be it right or wrong. */
  boolean has(String field) {
    return !isAbsent(node.path(field));
  }

  boolean flag(String field, boolean otherwise) {
    JsonNode value = take(field);
    if (isAbsent(value)) {
      return otherwise;
    }
    if (!value.isBoolean()) {
      report(field, "must be true or false, not " + value);
    }
    return value.asBoolean(otherwise);
  }

  <E extends Enum<E>> E choice(String field, Map<String, E> values, E otherwise) {
    JsonNode value = take(field);
    if (isAbsent(value)) {
      return otherwise;
    }
    E chosen = value.isTextual() ? values.get(value.textValue()) : null;
    if (chosen == null) {
      report(field, "must be one of " + String.join(", ", new TreeSet<>(values.keySet())) + ", not " + value);
      return otherwise;
    }
    return chosen;
  }

  int integer(String field, int min, int max, int otherwise) {
    return integer(field, min, max).orElse(otherwise);
  }

  OptionalInt integer(String field, int min, int max) {
    JsonNode value = take(field);
    if (isAbsent(value)) {
      return OptionalInt.empty();
    }
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < min || value.intValue() > max) {
      report(field, "must be a whole number from " + min + " to " + max + ", not " + value);
      return OptionalInt.empty();
    }
    return OptionalInt.of(value.intValue());
  }

  /** An amount of memory such as {@code 12Gi}, in bytes. */
  OptionalLong bytes(String field) {
    JsonNode value = take(field);
    if (isAbsent(value)) {
      return OptionalLong.empty();
    }
    if (!value.isTextual() && !value.isIntegralNumber()) {
      report(field, "must be a quantity such as 40Gi, not " + value);
      return OptionalLong.empty();
    }
    Quantity amount;
    try {
      amount = new Quantity(value.asText());
    } catch (IllegalArgumentException e) {
      report(field, "is not a quantity such as 40Gi: " + value.asText());
      return OptionalLong.empty();
    }
    Optional<String> problem = Amount.problem(amount);
    if (problem.isPresent()) {
      report(field, problem.get());
      return OptionalLong.empty();
    }
    return OptionalLong.of(amount.getNumericalAmount().longValueExact());
  }

  void refuseUnknownFields() {
    node.fieldNames()
        .forEachRemaining(
            field -> {
              if (!known.contains(field)) {
                report(field, "is not a known field" + suggestion(field));
              }
            });
  }

  void report(String field, String problem) {
    errors.add(new FieldError(at(field), problem));
  }

  List<FieldError> errors() {
    return List.copyOf(errors);
  }

  boolean hasErrors() {
    return !errors.isEmpty();
  }

  <T> Decoded<T> invalid() {
    return new Decoded.Invalid<>(errors);
  }

  private JsonNode take(String field) {
    known.add(field);
    return node.path(field);
  }

  private String at(String field) {
    return path.isEmpty() ? field : path + "." + field;
  }

  private String suggestion(String field) {
    return known.stream()
        .filter(name -> editDistance(name.toLowerCase(java.util.Locale.ROOT), field.toLowerCase(java.util.Locale.ROOT))
            <= 2)
        .findFirst()
        .map(name -> "; did you mean " + name + "?")
        .orElse("; known are " + String.join(", ", known));
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }

  private static String typeOf(JsonNode value) {
    return switch (value.getNodeType()) {
      case OBJECT -> "an object";
      case ARRAY -> "a list";
      case STRING -> "a string";
      case NUMBER -> "a number";
      case BOOLEAN -> "a boolean";
      default -> "nothing";
    };
  }

  private static int editDistance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substituted, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
