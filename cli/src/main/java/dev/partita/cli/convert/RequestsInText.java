package dev.partita.cli.convert;

import dev.partita.admission.dialect.Dialect;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the resources and device classes that a text in an object asks for: templates of pods in ConfigMaps, patches of
 * pods and of manifests, and the configuration of Kueue are texts.
 */
final class RequestsInText {
  /** A resource with an amount, as YAML and JSON write it. */
  private static final Pattern AMOUNT = Pattern.compile(
      "(?<![a-z0-9.-])([a-z][a-z0-9.-]{0,252}+/[A-Za-z0-9._-]{1,63}+)[\"']?\\s*+:\\s*+[\"']?(?!0(?:[\"'\\s,}]|$))[^\\s\"']");

  /** A resource in a path of a JSON patch. */
  private static final Pattern IN_PATCH =
      Pattern.compile("/(?:limits|requests)/([a-z0-9.-]{1,253}+~1[A-Za-z0-9._-]{1,63}+)");

  /** A DeviceClass, or a list of them, as YAML and JSON write it. */
  private static final Pattern CLASSES =
      Pattern.compile("deviceClassNames?[\"']?\\s*+:((?:[\\s\\[\"',-]*+[a-z0-9][a-z0-9.-]*+)++)");

  /** What Kueue counts as something else (its Configuration, resources.transformations). */
  private static final Pattern INPUT =
      Pattern.compile("(?<![A-Za-z0-9_])input[\"']?\\s*+:\\s*+[\"']?([a-z][a-z0-9.-]{0,252}+/[A-Za-z0-9._-]{1,63}+)");

  /** In Kueue's own configuration most is one, so that it can be turned on. */
  private static final Pattern COMMENT = Pattern.compile("^[ \\t]*+#.*+$", Pattern.MULTILINE);

  /** Of a resource that Kueue counts as another. */
  static final String UNCOUNTED = "is in no pod that asks by claims, so that Kueue counts none of it: list the classes"
      + " that claims name in deviceClassMappings (docs/how-to/use-kueue.md)";

  private RequestsInText() {}

  /** Why the text is not converted; nothing where it asks for no GPUs. */
  static List<String> in(String text) {
    if (Stream.of("limits", "requests", "deviceClassName", "transformations").noneMatch(text::contains)) {
      return List.of();
    }
    String said = COMMENT.matcher(text).replaceAll("");
    List<String> reasons = new ArrayList<>();
    resource(said).ifPresent(name -> reasons
        .add("asks for GPUs (" + name + ") in a text, which is not converted: convert it by itself"));
    deviceClass(said, name -> ForeignClass.of(name).isPresent()).ifPresent(name -> reasons.add(
        "names " + name
            + ", a class of another DRA driver, in a text, which is not converted: name one of ours there"));
    input(said).ifPresent(name -> reasons.add("names " + name + " in a text, which " + UNCOUNTED));
    return reasons;
  }

  /** The first such class that a text names; empty if it names none. */
  static Optional<String> deviceClass(String text, Predicate<String> such) {
    return CLASSES.matcher(text).results().flatMap(names -> Stream.of(names.group(1).split("[\\s\\[\"',]+", -1)))
        .filter(such).findFirst();
  }

  private static Optional<String> input(String text) {
    return text.contains("transformations")
        ? INPUT.matcher(text).results().map(input -> input.group(1)).filter(name -> Dialect.of(name).isPresent())
            .findFirst()
        : Optional.empty();
  }

  private static Optional<String> resource(String text) {
    if (!text.contains("limits") && !text.contains("requests")) {
      return Optional.empty();
    }
    return Stream.concat(AMOUNT.matcher(text).results(), IN_PATCH.matcher(text).results())
        .map(asked -> asked.group(1).replace("~1", "/")).filter(name -> Dialect.of(name).isPresent()).findFirst();
  }
}
