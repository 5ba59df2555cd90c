package dev.partita.api.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.Driver;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Reads a document that lists the opaque cards of a node ({@code kind: OpaqueCards}). A card that is wrong is left out,
 * and the others are used.
 */
public final class OpaqueCardsDecoder {
  public static final String KIND = "OpaqueCards";

  /** As many cards as one document may list. */
  public static final int MOST_CARDS = 64;

  private static final int MOST_ENTRIES = 64;
  private static final int MOST_NUMA_NODES = 1 << 10;
  private static final int LONGEST_VARIABLE = 1024;
  private static final int LONGEST_PATH = 256;
  private static final long LEAST_MEMORY = 1L << 20;
  private static final long MOST_MEMORY = 1L << 50;

  private static final Pattern VENDOR = Pattern.compile("[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,30}[A-Za-z0-9.])?");
  private static final Pattern PRODUCT = Pattern.compile("[\\x21-\\x7e](?:[\\x20-\\x7e]{0,62}[\\x21-\\x7e])?");
  private static final Pattern SERIAL = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,63}");
  private static final Pattern PCI = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  private static final Pattern PATH = Pattern.compile("(?:/[A-Za-z0-9_+:@=,-][A-Za-z0-9._+:@=,-]*)+");
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,63}=[\\x20-\\x7e]*");
  private static final Pattern CDI =
      Pattern.compile("[A-Za-z][A-Za-z0-9_.-]*/[A-Za-z][A-Za-z0-9_.-]*=[A-Za-z0-9][A-Za-z0-9_.:-]*");

  private OpaqueCardsDecoder() {}

  /**
   * What a document says.
   *
   * @param cards those that are right, by their place in the list ({@code cards[0]})
   * @param errors what is wrong with the others, and with the document
   */
  public record Reading(List<Listed> cards, List<FieldError> errors) {
    public Reading {
      cards = List.copyOf(cards);
      errors = List.copyOf(errors);
    }
  }

  /** A card and where it is listed. */
  public record Listed(String place, OpaqueCard card) {}

  public static Reading decode(JsonNode document) {
    StrictObject top = StrictObject.top(document);
    if (top.hasErrors()) {
      return new Reading(List.of(), top.errors()); // it is no object
    }
    String version = top.text("apiVersion", "");
    if (!version.equals(Driver.GROUP_VERSION)) {
      top.report("apiVersion", "must be " + Driver.GROUP_VERSION + ", not \"" + version + "\"");
    }
    String kind = top.text("kind", "");
    if (!kind.equals(KIND)) {
      top.report("kind", "must be " + KIND + ", not \"" + kind + "\"");
    }
    if (top.hasErrors()) {
      return new Reading(List.of(), top.errors()); // it may mean something else
    }
    List<JsonNode> entries = top.entries("cards", MOST_CARDS);
    top.refuseUnknownFields();
    List<FieldError> errors = new ArrayList<>(top.errors());
    List<Listed> cards = new ArrayList<>();
    for (int i = 0; i < entries.size(); i++) {
      String place = "cards[" + i + "]";
      switch (card(StrictObject.top(entries.get(i)))) {
        case Decoded.Valid<OpaqueCard>(OpaqueCard card) -> cards.add(new Listed(place, card));
        case Decoded.Invalid<OpaqueCard> invalid ->
            invalid.errors().stream().map(error -> error.below(place)).forEach(errors::add);
      }
    }
    return new Reading(cards, errors);
  }

  private static Decoded<OpaqueCard> card(StrictObject card) {
    if (card.hasErrors()) {
      return card.invalid(); // it is no object
    }
    String vendor = card.requiredText("vendor", OpaqueCardsDecoder::wrongVendor);
    String product = card.requiredText("productName", matching(PRODUCT, "must be 1 to 64 printable characters"));
    String serial = card.requiredText("serial",
        matching(SERIAL, "must be 1 to 64 letters, digits and ._:- , and begin with a letter or digit"));
    long memory = card.bytes("memory").orElse(0);
    if (!card.has("memory")) {
      card.report("memory", "is missing: how much device memory the card has, such as 192Gi");
    } else if (memory != 0 && (memory < LEAST_MEMORY || memory > MOST_MEMORY)) {
      card.report("memory", "must be from 1Mi to 1Pi");
    }
    OptionalInt numa = card.integer("numaNode", 0, MOST_NUMA_NODES);
    Optional<String> pci = card.has("pciBusID")
        ? Optional.of(card.requiredText("pciBusID", matching(PCI, "must be a PCI address such as 0000:c1:00.0")))
        : none(card, "pciBusID");
    SortedSet<String> nodes = card.texts("deviceNodes", MOST_ENTRIES, OpaqueCardsDecoder::wrongNode);
    SortedSet<String> env = card.texts("env", MOST_ENTRIES, OpaqueCardsDecoder::wrongVariable);
    SortedSet<String> mounts = card.texts("mounts", MOST_ENTRIES, OpaqueCardsDecoder::wrongMount);
    SortedSet<String> cdi = card.texts("cdiDevices", MOST_ENTRIES,
        matching(CDI, "must be a qualified CDI device name such as amd.com/gpu=0"));
    card.refuseUnknownFields();
    if (!card.hasErrors() && nodes.isEmpty() && cdi.isEmpty()) {
      card.report("deviceNodes", "is missing: say which device nodes a container of the card gets, or name a device of"
          + " another CDI spec in cdiDevices");
    }
    return card.hasErrors()
        ? card.invalid()
        : new Decoded.Valid<>(
            new OpaqueCard(vendor, product, serial, memory, numa, pci, nodes, env, mounts, cdi));
  }

  /** Notes that the field is known. */
  private static Optional<String> none(StrictObject card, String field) {
    card.text(field, "");
    return Optional.empty();
  }

  private static Optional<String> wrongVendor(String vendor) {
    if (vendor.toLowerCase(Locale.ROOT).startsWith("nvidia")) {
      return Optional.of("must not be NVIDIA: the plugin finds its cards by the driver, and would offer them twice");
    }
    return matching(VENDOR, "must be 1 to 32 letters, digits, spaces and ._-").apply(vendor);
  }

  private static Optional<String> wrongNode(String path) {
    Optional<String> wrong = wrongPath(path);
    if (wrong.isPresent()) {
      return wrong;
    }
    if (!path.startsWith("/dev/")) {
      return Optional.of("must be a device node below /dev, not " + path);
    }
    return path.startsWith("/dev/nvidia")
        ? Optional.of("must not be a device node of NVIDIA's driver: " + path)
        : Optional.empty();
  }

  private static Optional<String> wrongMount(String path) {
    Optional<String> wrong = wrongPath(path);
    boolean kernels = List.of("/dev", "/proc", "/sys").stream()
        .anyMatch(folder -> path.equals(folder) || path.startsWith(folder + "/"));
    return wrong.isEmpty() && kernels
        ? Optional.of("must not lie in /dev, /proc or /sys, which a container has of its own: " + path)
        : wrong;
  }

  /** A part of a path may not begin with a point, so that it leads to no other folder. */
  private static Optional<String> wrongPath(String path) {
    return path.length() <= LONGEST_PATH && PATH.matcher(path).matches()
        ? Optional.empty()
        : Optional
            .of("must be an absolute path of at most 256 letters, digits and ._+:@=,- whose parts do not begin with"
                + " a point");
  }

  private static Optional<String> wrongVariable(String variable) {
    if (variable.length() > LONGEST_VARIABLE || !VARIABLE.matcher(variable).matches()) {
      return Optional.of("must be NAME=value of at most 1024 printable characters");
    }
    return variable.matches("(?:PARTITA_|NVIDIA_|CUDA_|LD_).*")
        ? Optional.of("must not begin with PARTITA_, NVIDIA_, CUDA_ or LD_: these are set by others")
        : Optional.empty();
  }

  private static Function<String, Optional<String>> matching(Pattern form, String otherwise) {
    return text -> form.matcher(text).matches() ? Optional.empty() : Optional.of(otherwise);
  }
}
