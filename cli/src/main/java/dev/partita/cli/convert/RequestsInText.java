package dev.partita.cli.convert;

import dev.partita.admission.dialect.Dialect;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a text in an object asks for: templates of pods in ConfigMaps, and patches of pods and of manifests, are texts. */
final class RequestsInText {
  /** A resource with an amount, as YAML and JSON write it. */
  private static final Pattern AMOUNT = Pattern.compile(
      "(?<![a-z0-9.-])([a-z][a-z0-9.-]{0,252}+/[A-Za-z0-9._-]{1,63}+)[\"']?\\s*+:\\s*+[\"']?(?!0(?:[\"'\\s,}]|$))[^\\s\"']");

  /** A resource in a path of a JSON patch. */
  private static final Pattern IN_PATCH =
      Pattern.compile("/(?:limits|requests)/([a-z0-9.-]{1,253}+~1[A-Za-z0-9._-]{1,63}+)");

  private RequestsInText() {}

  /** Why the text is not converted; nothing where it asks for no GPUs. */
  static List<String> in(String text) {
    return resource(text).map(name -> "asks for GPUs (" + name + ") in a text, which is not converted: convert it by"
        + " itself").stream().toList();
  }

  private static Optional<String> resource(String text) {
    if (!text.contains("limits") && !text.contains("requests")) {
      return Optional.empty();
    }
    return Stream.concat(AMOUNT.matcher(text).results(), IN_PATCH.matcher(text).results())
        .map(asked -> asked.group(1).replace("~1", "/")).filter(name -> Dialect.of(name).isPresent()).findFirst();
  }
}
