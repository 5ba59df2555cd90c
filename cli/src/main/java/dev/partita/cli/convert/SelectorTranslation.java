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
 * @param capacities of the devices that it is about, by names that both drivers have
 * @param cardTypes what the driver's devices have as their type, where the others have "gpu"
 * @param inLowerCase of these attributes, by the name there, those that the driver has in lower case
 */
record SelectorTranslation(
    String from,
    String to,
    Map<String, String> attributes,
    Set<String> capacities,
    Set<String> cardTypes,
    Set<String> inLowerCase) {
  private static final String STANDARD = "resource.kubernetes.io/";

  /** Of cards and of instances alike, in both directions. */
  private static final List<DeviceAttribute> SAME =
      List.of(DeviceAttribute.TYPE, DeviceAttribute.PRODUCT_NAME, DeviceAttribute.BRAND, DeviceAttribute.ARCHITECTURE,
          DeviceAttribute.CUDA_COMPUTE_CAPABILITY, DeviceAttribute.DRIVER_VERSION, DeviceAttribute.CUDA_DRIVER_VERSION,
          DeviceAttribute.PROFILE);

  /** Which others have or had, and NVIDIA's driver has no more (dra-driver-nvidia-gpu, resourceslice-attributes.md). */
  private static final List<DeviceAttribute> OURS = List.of(DeviceAttribute.INDEX, DeviceAttribute.MINOR);

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

  /** A device's driver, but where it is compared with a name. */
  private static final Pattern DRIVER_OTHERWISE =
      Pattern.compile("device\\s*\\.\\s*driver\\b(?!\\s*==\\s*" + QUOTE + ")");

  SelectorTranslation {
    attributes = Map.copyOf(attributes);
    capacities = Set.copyOf(capacities);
    cardTypes = Set.copyOf(cardTypes);
    inLowerCase = Set.copyOf(inLowerCase);
  }

  /** What came of a selector. */
  sealed interface Selector {
    record Translated(String expression) implements Selector {}

    /** No translation: nothing means the same as that name in it. */
    record Refused(String name) implements Selector {}

    /** No translation: it asks about the driver's devices in a way that this does not read. */
    record Unread() implements Selector {}
  }

  /** From devices of a kind of another driver to ours; a MIG instance has a UUID of its own there. */
  static SelectorTranslation toOurs(String driver, ForeignClass.Kind kind) {
    Map<String, String> names = names(driver, kind instanceof ForeignClass.Kind.Instance);
    OURS.forEach(each -> names.put(driver + "/" + each.identifier(), each.qualifiedName()));
    Set<String> capacities = switch (kind) {
      case ForeignClass.Kind.Card() -> Set.of(CapacityName.MEMORY);
      case ForeignClass.Kind.Share(String _) -> Set.of(CapacityName.MEMORY, CapacityName.CORES);
      case ForeignClass.Kind.Instance() -> Set.of(CapacityName.MEMORY, CapacityName.MULTIPROCESSORS);
      case ForeignClass.Kind.None(String _) -> Set.of();
    };
    return new SelectorTranslation(driver, Driver.NAME, names, capacities, ForeignClass.typesOfShares(driver),
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
    return new SelectorTranslation(Driver.NAME, driver, inverse,
        instances ? Set.of(CapacityName.MEMORY, CapacityName.MULTIPROCESSORS) : Set.of(CapacityName.MEMORY), Set.of(),
        Set.of());
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
    return there.contains(from) || DRIVER_OTHERWISE.matcher(there).find()
        ? new Selector.Unread()
        : new Selector.Translated(there);
  }

  /** Whether an attribute is the driver's, or a standard one that our devices have by another name. */
  boolean isAbout(String qualified) {
    return qualified.startsWith(from + "/") || attributes.containsKey(qualified);
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
            .filter(_ -> !domain.equals(from) || capacities.contains(name))
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
