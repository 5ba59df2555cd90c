package dev.partita.plugin.diagnosis;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.cdi.DurableFile;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps in a file which cards became unhealthy lately, and what was wrong with them, so that the next plugin damps them
 * too and knows their errors. After a reboot it counts as missing, and so does what cannot be read.
 */
public final class FlapFile implements FlapDamping.History {
  private static final Logger LOG = LoggerFactory.getLogger(FlapFile.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-------");

  private final Path file;
  private final String bootId;
  private final InstantSource clock;

  /**
   * @param file its folder must be there when something is kept
   * @param clock the time of day, which outlives a process
   */
  public FlapFile(Path file, String bootId, InstantSource clock) {
    this.file = file;
    this.bootId = bootId;
    this.clock = clock;
  }

  /** What the file holds; times are milliseconds since 1970. */
  private record Document(String bootId, Map<String, Card> cards) {}

  private record Card(List<Long> onsets, GpuHealth last, GpuHealth lastWrong, long wellSince) {}

  @Override
  public Map<String, FlapDamping.Past> read() {
    try {
      Optional<byte[]> text = DurableFile.read(file);
      if (text.isEmpty()) {
        return Map.of();
      }
      Document document = JSON.readValue(text.get(), Document.class);
      Map<String, FlapDamping.Past> cards = new TreeMap<>();
      if (document.bootId().equals(bootId)) {
        document.cards().forEach((uuid, card) -> cards.put(uuid, new FlapDamping.Past(
            card.onsets().stream().map(this::since).toList(), card.last(), card.lastWrong(), since(card.wellSince()))));
      }
      return cards;
    } catch (IOException | RuntimeException e) { // it may hold anything
      LOG.info("cannot use {}; cards that became unhealthy again and again are not known: {}", file, e.getMessage());
      return Map.of();
    }
  }

  @Override
  public void write(Map<String, FlapDamping.Past> cards) {
    Map<String, Card> kept = new TreeMap<>();
    cards.forEach((uuid, past) -> kept.put(uuid,
        new Card(past.onsets().stream().map(this::at).toList(), past.last(), past.lastWrong(), at(past.wellSince()))));
    try {
      DurableFile.write(file, JSON.writeValueAsBytes(new Document(bootId, kept)), PRIVATE);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      LOG.warn("cannot keep which cards became unhealthy: {}", e.toString());
    }
  }

  private Duration since(long millis) {
    return Duration.ofMillis(Math.max(0, clock.millis() - millis)); // somebody may have set the clock
  }

  private long at(Duration ago) {
    return clock.millis() - ago.toMillis();
  }
}
