package dev.partita.plugin.opaque;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.partita.api.config.FieldError;
import dev.partita.api.config.OpaqueCard;
import dev.partita.api.config.OpaqueCardsDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Reads the files of a folder on the node that list opaque cards. What containers get by them is a right that only an
 * administrator of the node may give, so the folder and its files must be his, and nobody else may write them.
 */
public final class CardFiles {
  private static final Pattern FILE = Pattern.compile("[^.].*\\.(?:yaml|yml|json)");
  private static final int MOST_FILES = 32;
  private static final int MOST_BYTES = 256 << 10;
  private static final int MOST_CARDS = 128;
  private static final int WRITABLE_BY_OTHERS = 022;
  private static final int TYPE_OF_FILE = 0170000;
  private static final int CHARACTER_DEVICE = 0020000;
  private static final int BLOCK_DEVICE = 0060000;

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory())
      .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private final Optional<Path> folder;
  private final String node;
  private final Host host;
  private final int owner;

  /**
   * Where the host's own folders are, as this process sees them.
   *
   * @param dev /dev
   * @param sysfs /sys
   */
  public record Host(Path dev, Path sysfs) {}

  /** Reads no files. */
  public static final CardFiles NONE = new CardFiles(Optional.empty(), "", new Host(Path.of("/dev"), Path.of("/sys")));

  /**
   * @param folder with the files; empty where there are none to be read
   * @param node name of this node: cards get UUIDs by it, so that equal files on two nodes are of different cards
   */
  public CardFiles(Optional<Path> folder, String node, Host host) {
    this(folder, node, host, 0);
  }

  /** @param owner the user whose files are read, by number: root */
  CardFiles(Optional<Path> folder, String node, Host host, int owner) {
    this.folder = folder;
    this.node = node;
    this.host = host;
    this.owner = owner;
  }

  /** Reads them now. */
  public OpaqueCards read() {
    if (folder.isEmpty() || !Files.exists(folder.get(), LinkOption.NOFOLLOW_LINKS)) {
      return OpaqueCards.NONE;
    }
    List<String> problems = new ArrayList<>();
    List<Path> files = files(folder.get(), problems);
    SortedMap<String, OpaqueCard> cards = new TreeMap<>();
    Map<String, String> places = new HashMap<>();
    for (Path file : files) {
      for (OpaqueCardsDecoder.Listed listed : listed(file, problems)) {
        String place = file.getFileName() + ": " + listed.place();
        Optional<String> wrong = problem(listed.card())
            .or(() -> repeated(listed.card(), places))
            .or(() -> cards.size() < MOST_CARDS
                ? Optional.empty()
                : Optional.of("is one too many: a node has at most " + MOST_CARDS + " opaque cards"));
        if (wrong.isPresent()) {
          problems.add(place + " " + wrong.get());
          continue;
        }
        cards.put(uuid(listed.card().serial()), listed.card());
        keys(listed.card()).forEach(key -> places.put(key, place));
      }
    }
    return new OpaqueCards(cards, problems, !files.isEmpty() || !problems.isEmpty());
  }

  /** The UUID of the card with that serial on this node: always the same, and no other node's. */
  String uuid(String serial) {
    return "OPAQUE-" + UUID.nameUUIDFromBytes((node + "/" + serial).getBytes(StandardCharsets.UTF_8));
  }

  private List<Path> files(Path of, List<String> problems) {
    List<Path> files = new ArrayList<>();
    try {
      Optional<String> foreign = foreign(of, true);
      if (foreign.isPresent()) {
        problems.add(of + " " + foreign.get());
        return List.of();
      }
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(of)) {
        for (Path entry : entries) {
          if (FILE.matcher(String.valueOf(entry.getFileName())).matches()) {
            files.add(entry);
          }
          if (files.size() > MOST_FILES) {
            problems.add(of + " has more than " + MOST_FILES + " files; put their cards into fewer");
            return List.of();
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      problems.add(of + " cannot be read: " + e);
      return List.of();
    }
    files.sort(null);
    return files;
  }

  private List<OpaqueCardsDecoder.Listed> listed(Path file, List<String> problems) {
    String name = String.valueOf(file.getFileName());
    JsonNode document;
    try {
      Optional<String> foreign = foreign(file, false);
      if (foreign.isPresent()) {
        problems.add(name + " " + foreign.get());
        return List.of();
      }
      byte[] bytes;
      try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
        bytes = in.readNBytes(MOST_BYTES + 1);
      }
      if (bytes.length > MOST_BYTES) {
        problems.add(name + " has more than " + (MOST_BYTES >> 10) + " KiB; split it");
        return List.of();
      }
      document = YAML.readTree(bytes);
    } catch (NoSuchFileException e) {
      return List.of(); // it has gone meanwhile
    } catch (JacksonException e) {
      JsonLocation at = e.getLocation();
      String line = at == null ? "" : ", line " + at.getLineNr();
      problems.add(name + line + ": is no YAML: " + firstLine(e.getOriginalMessage()));
      return List.of();
    } catch (IOException | RuntimeException | StackOverflowError e) {
      problems.add(name + " cannot be read: " + firstLine(e.toString()));
      return List.of();
    }
    OpaqueCardsDecoder.Reading reading = OpaqueCardsDecoder.decode(document);
    for (FieldError error : reading.errors()) {
      problems.add(name + ": " + error);
    }
    return reading.cards();
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("").strip();
  }

  /** Why it is not to be believed; empty if it is. */
  private Optional<String> foreign(Path path, boolean isFolder) throws IOException {
    Map<String, Object> is = Files.readAttributes(path, "unix:uid,mode,isDirectory,isRegularFile",
        LinkOption.NOFOLLOW_LINKS);
    if (!Boolean.TRUE.equals(is.get(isFolder ? "isDirectory" : "isRegularFile"))) {
      return Optional.of("is not a " + (isFolder ? "folder" : "regular file") + ", and links are not followed");
    }
    if (!(is.get("uid") instanceof Integer uid) || uid != owner) {
      return Optional.of("belongs to user " + is.get("uid") + ", and must be root's: chown root it");
    }
    return is.get("mode") instanceof Integer mode && (mode & WRITABLE_BY_OTHERS) == 0
        ? Optional.empty()
        : Optional.of("can be written by others than root: chmod go-w it");
  }

  private Optional<String> problem(OpaqueCard card) {
    for (String node : card.deviceNodes()) {
      Optional<String> wrong = problem(node);
      if (wrong.isPresent()) {
        return wrong;
      }
    }
    return card.pciBusId().flatMap(address -> problem(address, card));
  }

  private Optional<String> problem(String node) {
    Path path = host.dev().resolve(node.substring("/dev/".length()));
    try {
      if (!(Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) instanceof Integer mode)) {
        return Optional.of("names " + node + ", of which the type is not known");
      }
      int type = mode & TYPE_OF_FILE;
      if ((type != CHARACTER_DEVICE && type != BLOCK_DEVICE) || !isReal(path)) {
        return Optional.of("names " + node + ", which is no device node itself: name what it leads to");
      }
      return Optional.empty();
    } catch (NoSuchFileException e) {
      return Optional.of("names " + node + ", which the node does not have: is the card's driver loaded?");
    } catch (IOException | RuntimeException e) {
      return Optional.of("names " + node + ", which cannot be looked at: " + e);
    }
  }

  /** Whether no folder on the way is a link. */
  private boolean isReal(Path path) throws IOException {
    return path.toRealPath().equals(host.dev().toRealPath().resolve(host.dev().relativize(path)));
  }

  private Optional<String> problem(String pciAddress, OpaqueCard card) {
    Path devices = host.sysfs().resolve("bus/pci/devices");
    if (!Files.isDirectory(devices)) {
      return Optional.empty(); // nobody can tell
    }
    if (!Files.exists(devices.resolve(pciAddress))) {
      return Optional.of("has pciBusID " + pciAddress + ", where the node has no device; see lspci -D");
    }
    int has;
    try {
      has = Integer.parseInt(Files.readString(devices.resolve(pciAddress).resolve("numa_node")).strip());
    } catch (IOException | NumberFormatException e) {
      return Optional.empty();
    }
    return has >= 0 && card.numaNode().isPresent() && card.numaNode().getAsInt() != has
        ? Optional.of("has numaNode " + card.numaNode().getAsInt() + ", but " + pciAddress + " is on node " + has)
        : Optional.empty();
  }

  private static Optional<String> repeated(OpaqueCard card, Map<String, String> places) {
    return keys(card).stream().filter(places::containsKey).findFirst()
        .map(key -> "has the same " + key + " as " + places.get(key) + "; each card is listed once");
  }

  /** What no two cards have in common. */
  private static List<String> keys(OpaqueCard card) {
    List<String> keys = new ArrayList<>(List.of("serial " + card.serial()));
    card.pciBusId().ifPresent(address -> keys.add("pciBusID " + address));
    return keys;
  }
}
