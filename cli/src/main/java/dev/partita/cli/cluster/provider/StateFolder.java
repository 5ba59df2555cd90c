package dev.partita.cli.cluster.provider;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Optional;

/** Where it is remembered which cluster is up: a folder, of one user, for one cluster. */
public final class StateFolder {
  private static final JsonMapper JSON = JsonMapper.builder().addModule(new JavaTimeModule()).build();

  private static final String DOWN = "partita cluster down";

  private final Path folder;
  private final String down;

  private StateFolder(Path folder, String down) {
    this.folder = folder;
    this.down = down;
  }

  /** The folder that the environment names: {@code PARTITA_STATE}, or by the XDG rules. */
  public static StateFolder of(Map<String, String> environment) {
    String own = environment.getOrDefault("PARTITA_STATE", "");
    if (!own.isEmpty()) {
      Path folder = Path.of(own).toAbsolutePath();
      return new StateFolder(folder, "PARTITA_STATE=" + folder + " " + DOWN);
    }
    String xdg = environment.getOrDefault("XDG_STATE_HOME", "");
    Path states =
        xdg.isEmpty() ? Path.of(environment.getOrDefault("HOME", "/tmp"), ".local", "state") : Path.of(xdg);
    return new StateFolder(states.resolve("partita").toAbsolutePath(), DOWN);
  }

  /** The command that takes down what is remembered here, also in a shell without {@code PARTITA_STATE}. */
  public String downCommand() {
    return down;
  }

  /** A file of this folder, which need not exist. */
  Path file(String name) {
    return folder.resolve(name);
  }

  public Optional<ClusterRecord> read() {
    try {
      return Optional.of(JSON.readValue(Files.readString(recordFile()), ClusterRecord.class));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (JsonProcessingException unreadable) {
      throw CommandFailure.usage(
          "%s cannot be read (%s): take the cluster down by its provider's own means and delete that file"
              .formatted(recordFile(), unreadable.getOriginalMessage()));
    } catch (IOException unreadable) {
      throw CommandFailure.usage("state folder %s cannot be read (%s): set PARTITA_STATE to another".formatted(folder,
          FileProblem.why(unreadable)));
    }
  }

  /** Remembers a cluster, in the place of what was remembered. */
  public void write(ClusterRecord record) {
    try {
      Files.createDirectories(folder);
      Path part = folder.resolve("cluster.json.part");
      Files.writeString(part, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(record));
      Files.move(part, recordFile(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException refused) {
      throw CommandFailure.usage(
          "state folder %s cannot be written (%s): set PARTITA_STATE to another".formatted(folder,
              FileProblem.why(refused)));
    }
  }

  public void forget() {
    try {
      Files.deleteIfExists(recordFile());
    } catch (IOException refused) {
      throw CommandFailure.failed("%s cannot be deleted: %s".formatted(recordFile(), FileProblem.why(refused)));
    }
  }

  /** The file in which it stands what is up. */
  public Path recordFile() {
    return folder.resolve("cluster.json");
  }
}
