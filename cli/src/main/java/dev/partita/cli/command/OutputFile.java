package dev.partita.cli.command;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A file into which a command writes at its end what it worked for.
 *
 * @param path an existing file is replaced
 * @param what what is in it, as the plural of a noun, such as {@code the answers}
 */
public record OutputFile(Path path, String what) {
  /** What the file is to hold. */
  @FunctionalInterface
  public interface Content {
    /** Writes it; who calls closes the stream. */
    void writeTo(OutputStream to) throws IOException;
  }

  /**
   * Refuses a file that cannot be written in the end. Called before long work, which would be lost otherwise.
   *
   * @throws CommandFailure if its folder is not there, or either may not be written, or it is a folder itself
   */
  public void check() {
    @Nullable Path folder = path.toAbsolutePath().getParent();
    if (folder == null || Files.isDirectory(path)) {
      throw refused("it is a folder");
    }
    if (Files.exists(path) ? !Files.isWritable(path) : Files.isDirectory(folder) && !Files.isWritable(folder)) {
      throw refused("permission denied");
    }
    if (!Files.isDirectory(folder)) {
      throw refused("there is no folder " + folder);
    }
  }

  /**
   * Writes it whole.
   *
   * @param lines without their line feeds
   * @throws CommandFailure if that fails
   */
  public void write(List<String> lines) {
    try {
      Files.write(path, lines);
    } catch (IOException e) {
      throw refused(FileProblem.why(e));
    }
  }

  /** The same with what is written piece by piece. */
  public void write(Content content) {
    try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(path))) {
      content.writeTo(to);
    } catch (IOException e) {
      throw refused(FileProblem.why(e));
    }
  }

  private CommandFailure refused(String why) {
    return CommandFailure.failed("%s cannot be written to %s: %s".formatted(what, path, why));
  }
}
