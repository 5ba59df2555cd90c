package dev.partita.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableFileTest {
  @TempDir Path folder;

  @Test
  void aFileOfZerosHasItsRoomOnTheDisk() throws IOException {
    Path file = folder.resolve("region");
    DurableFile.replaceWithZeros(file, 528_384, PosixFilePermissions.fromString("rw-rw-rw-"));
    assertThat(Files.readAllBytes(file)).hasSize(528_384).containsOnly(0);
    assertThat(allocatedBytes(file)).isGreaterThanOrEqualTo(528_384);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-rw-rw-");
    try (var left = Files.list(folder)) {
      assertThat(left).containsExactly(file);
    }
  }

  private static long allocatedBytes(Path file) throws IOException {
    Process stat = new ProcessBuilder("stat", "-c", "%b %B", file.toString()).redirectErrorStream(true).start();
    String[] blocks = new String(stat.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip().split(" ", -1);
    return Long.parseLong(blocks[0]) * Long.parseLong(blocks[1]);
  }
}
