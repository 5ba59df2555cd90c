package dev.partita.admission.request;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceAttribute;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which cards may be used. It is kept in words, and becomes CEL only here, with every word escaped: whoever reads it
 * from an object that a user could write gets no expression of the user's.
 *
 * @param models lower-case words of which the product's name must hold one; empty for every model
 * @param notModels lower-case words of which it must hold none
 * @param uuids of the cards that may be used; empty for all
 * @param notUuids of the cards that may not
 */
public record CardChoice(List<String> models, List<String> notModels, List<String> uuids, List<String> notUuids) {
  /** Every card. */
  public static final CardChoice ANY = new CardChoice(List.of(), List.of(), List.of(), List.of());

  /** Most bytes of a CEL expression in a device selector (resource.k8s.io/v1, CELSelectorExpressionMaxLength). */
  private static final int MAX_EXPRESSION = 10 * 1024;

  /**
   * @throws IllegalArgumentException if a word is empty or holds control characters, or if words are more than a
   *         selector can hold
   */
  public CardChoice {
    models = List.copyOf(models);
    notModels = List.copyOf(notModels);
    uuids = List.copyOf(uuids);
    notUuids = List.copyOf(notUuids);
    if (Stream.of(models, notModels, uuids, notUuids).flatMap(List::stream)
        .anyMatch(word -> word.isBlank() || holdsControls(word))) {
      throw new IllegalArgumentException("words that choose cards must hold something, and no control characters");
    }
    if (!isModelsFit(models) || !isModelsFit(notModels) || !isUuidsFit(uuids) || !isUuidsFit(notUuids)) {
      throw new IllegalArgumentException("more words than a device selector can hold");
    }
  }

  /** CEL expressions that a card has to satisfy, all of them. */
  public List<String> selectors() {
    List<String> selectors = new ArrayList<>();
    if (!models.isEmpty()) {
      selectors.add(ofModels(models));
    }
    if (!notModels.isEmpty()) {
      selectors.add("!(" + ofModels(notModels) + ")");
    }
    if (!uuids.isEmpty()) {
      selectors.add(ofUuids(uuids));
    }
    if (!notUuids.isEmpty()) {
      selectors.add("!(" + ofUuids(notUuids) + ")");
    }
    return selectors;
  }

  /** Whether a word holds what none may. */
  public static boolean holdsControls(String word) {
    return word.chars().anyMatch(Character::isISOControl);
  }

  /** Whether a selector can hold that many words of models. */
  public static boolean isModelsFit(List<String> words) {
    return fits(ofModels(words));
  }

  /** Whether a selector can hold that many UUIDs. */
  public static boolean isUuidsFit(List<String> words) {
    return fits(ofUuids(words));
  }

  private static boolean fits(String expression) {
    return expression.getBytes(StandardCharsets.UTF_8).length <= MAX_EXPRESSION - "!()".length();
  }

  /** HAMi looks for the words in "NVIDIA-<product name>", whatever their case. */
  private static String ofModels(List<String> words) {
    String product = "(\"NVIDIA-\" + " + attribute(DeviceAttribute.PRODUCT_NAME) + ").lowerAscii()";
    return any(words, word -> product + ".contains(" + Cel.text(word) + ")");
  }

  private static String ofUuids(List<String> words) {
    String uuid = attribute(DeviceAttribute.UUID);
    return any(words, word -> uuid + " == " + Cel.text(word));
  }

  private static String any(List<String> words, Function<String, String> condition) {
    return words.stream().map(condition).collect(Collectors.joining(" || "));
  }

  private static String attribute(DeviceAttribute attribute) {
    return "device.attributes[" + Cel.text(Driver.NAME) + "]." + attribute.identifier();
  }
}
