package dev.partita.cli.convert;

import dev.partita.api.Driver;
import dev.partita.api.device.CapacityName;
import dev.partita.api.device.DeviceAttribute;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Translates selectors on devices of one driver to selectors on those of another. Our attributes are named as NVIDIA's
 * driver names its own, so that most of a selector comes out with another domain; what mentions anything else of the
 * first driver is not translated.
 *
 * @param from the driver whose devices are asked about, which is the domain of its attributes
 * @param to the driver whose devices the selector is to ask about
 * @param attributes what means the same there, by name, both with their domains
 * @param cardTypes what the driver's devices have as their type, where the others have "gpu"
 * @param inLowerCase of these attributes, by the name there, those that the driver has in lower case
 */
record SelectorTranslation(
    String from,
    String to,
    Map<String, String> attributes,
    Set<String> cardTypes,
    Set<String> inLowerCase) {
  private static final String STANDARD = "resource.kubernetes.io/";

  /** Of cards and of instances alike. */
  private static final List<DeviceAttribute> SAME =
      List.of(DeviceAttribute.TYPE, DeviceAttribute.PRODUCT_NAME, DeviceAttribute.BRAND, DeviceAttribute.ARCHITECTURE,
          DeviceAttribute.CUDA_COMPUTE_CAPABILITY, DeviceAttribute.DRIVER_VERSION, DeviceAttribute.CUDA_DRIVER_VERSION,
          DeviceAttribute.INDEX, DeviceAttribute.MINOR, DeviceAttribute.PROFILE);

  private static final Set<String> CAPACITIES = Set.of(CapacityName.MEMORY, CapacityName.CORES, "multiprocessors");

  private static final String QUOTE = "['\"]";

  /** {@code device.attributes['domain'].name}, of attributes or of capacity. */
  private static final Pattern REFERENCE = Pattern.compile(
      "device\\s*\\.\\s*(attributes|capacity)\\s*\\[\\s*" + QUOTE + "([^'\"\\\\]+)" + QUOTE
          + "\\s*]\\s*\\.\\s*([A-Za-z_][A-Za-z0-9_]*)");

  private static final Pattern OF_DRIVER =
      Pattern.compile("device\\s*\\.\\s*driver\\s*==\\s*" + QUOTE + "([^'\"\\\\]+)" + QUOTE);

  /** {@code device.attributes['domain'].type == 'value'}. */
  private static final Pattern OF_TYPE = Pattern.compile(
      "(device\\s*\\.\\s*attributes\\s*\\[\\s*" + QUOTE + "([^'\"\\\\]+)" + QUOTE + "\\s*]\\s*\\.\\s*type\\s*==\\s*)"
          + QUOTE + "([^'\"\\\\]+)" + QUOTE);

  SelectorTranslation {
    attributes = Map.copyOf(attributes);
    cardTypes = Set.copyOf(cardTypes);
    inLowerCase = Set.copyOf(inLowerCase);
  }

  /** What came of a selector, or the name in it for which nothing did. */
  sealed interface Selector {
    record Translated(String expression) implements Selector {}

    record Refused(String name) implements Selector {}
  }

  /**
   * From devices of another driver to ours.
   *
   * @param instances whether they are MIG instances, whose UUID there is one of their own
   */
  static SelectorTranslation toOurs(String driver, boolean instances) {
    return new SelectorTranslation(driver, Driver.NAME, names(driver, instances), ForeignClass.typesOfShares(driver),
        driver.equals(ForeignClass.VGPU_MANAGER_GPU.driver())
            ? Set.of(driver + "/uuid", driver + "/parentUUID")
            : Set.of());
  }

  /**
   * From our devices to those of another driver.
   *
   * @param instances whether they are MIG instances
   */
  static SelectorTranslation fromOurs(String driver, boolean instances) {
    Map<String, String> inverse = new HashMap<>();
    names(driver, instances).forEach((theirs, ours) -> inverse.put(ours, theirs));
    return new SelectorTranslation(Driver.NAME, driver, inverse, Set.of(), Set.of());
  }

  Selector selector(String expression) {
    Set<String> unknown = new TreeSet<>();
    String typed = OF_TYPE.matcher(expression).replaceAll(found -> Matcher.quoteReplacement(
        found.group(2).equals(from) && cardTypes.contains(found.group(3))
            ? found.group(1) + "\"gpu\""
            : found.group()));
    cardTypes.stream().filter(type -> Pattern.compile(QUOTE + Pattern.quote(type) + QUOTE).matcher(typed).find())
        .map(type -> "type " + type).forEach(unknown::add);
    String there = REFERENCE.matcher(typed).replaceAll(found -> reference(found, unknown));
    there = OF_DRIVER.matcher(there).replaceAll(found -> Matcher.quoteReplacement(
        found.group(1).equals(from) ? "device.driver == \"" + to + "\"" : found.group()));
    if (!unknown.isEmpty()) {
      return new Selector.Refused(unknown.iterator().next());
    }
    return there.contains(from) ? new Selector.Refused(from) : new Selector.Translated(there);
  }

  /** The name there of an attribute with its domain; empty if none means the same. */
  Optional<String> attribute(String qualified) {
    return Optional.ofNullable(attributes.get(qualified))
        .or(() -> qualified.startsWith(from + "/") ? Optional.empty() : Optional.of(qualified));
  }

  /** By the other driver's name; a MIG instance of ours has its card's UUID. */
  private static Map<String, String> names(String driver, boolean instances) {
    Map<String, String> names = new HashMap<>();
    SAME.forEach(each -> names.put(driver + "/" + each.identifier(), each.qualifiedName()));
    names.put(driver + (instances ? "/parentUUID" : "/uuid"), DeviceAttribute.UUID.qualifiedName());
    names.put(STANDARD + "pciBusID", DeviceAttribute.PCI_BUS_ID.qualifiedName());
    return names;
  }

  private String reference(MatchResult found, Set<String> unknown) {
    String what = found.group(1);
    String domain = found.group(2);
    String name = found.group(3);
    Optional<String> there = what.equals("capacity")
        ? Optional.of(domain.equals(from) ? to + "/" + name : domain + "/" + name)
            .filter(_ -> !domain.equals(from) || CAPACITIES.contains(name))
        : attribute(domain + "/" + name);
    if (there.isEmpty()) {
      unknown.add(name);
    }
    String qualified = there.orElse(domain + "/" + name);
    int slash = qualified.lastIndexOf('/');
    return Matcher.quoteReplacement(qualified.equals(domain + "/" + name)
        ? found.group()
        : "device." + what + "[\"" + qualified.substring(0, slash) + "\"]." + qualified.substring(slash + 1)
            + (inLowerCase.contains(domain + "/" + name) ? ".lowerAscii()" : ""));
  }
}
