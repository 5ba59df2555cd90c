package dev.partita.plugin.usage.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeastOverheadsTest {
  private static final long MIB = 1L << 20;

  @TempDir Path folder;

  @Test
  void whatOneBookHasLearnedTheNextOneKnows() {
    OverheadBook book = new OverheadBook();
    for (int i = 0; i < OverheadBook.WINDOW; i++) {
      book.take(new OverheadBook.Key(new ProcessIdentity(7, 1), "GPU-1"), "NVIDIA H200",
          new OverheadBook.Reading(300 * MIB, 0, 0, 0, false, OverheadBook.Contexts.NONE));
    }
    LeastOverheads first = new LeastOverheads(file());
    assertThat(first.kept()).isEmpty();
    first.keep(book.least());
    OverheadBook next = new OverheadBook(OverheadBook.PLAUSIBLE, new LeastOverheads(file()).kept());
    assertThat(next.expected("NVIDIA H200")).isEqualTo(300 * MIB);
    assertThat(next.expected("Tesla T4")).isZero();
  }

  @Test
  void theFileIsWrittenOnlyWhenSomethingWasLearned() throws IOException {
    LeastOverheads file = new LeastOverheads(file());
    file.keep(Map.of());
    assertThat(file()).doesNotExist();
    file.keep(Map.of("NVIDIA H200", 300 * MIB));
    Files.delete(file());
    file.keep(Map.of("NVIDIA H200", 300 * MIB));
    assertThat(file()).doesNotExist();
    file.keep(Map.of("NVIDIA H200", 290 * MIB));
    assertThat(new LeastOverheads(file()).kept()).containsExactly(Map.entry("NVIDIA H200", 290 * MIB));
  }

  @Test
  void linesThatMakeNoSenseAreSkipped() throws IOException {
    Files.writeString(
        file(),
        "partita-overheads 1\n\nnonsense\n-5 a\n0 b\n99999999999999999999 c\n" + (OverheadBook.USUAL + 1) + " d\n"
            + 250 * MIB + " NVIDIA H200\nx y z");
    assertThat(new LeastOverheads(file()).kept()).containsExactly(Map.entry("NVIDIA H200", 250 * MIB));
  }

  @Test
  void aFileThatIsTornOrOfAnotherKindIsAsIfItWereNotThere() throws IOException {
    for (byte[] content : new byte[][]{{}, {0, -1, 5},
      "partita-overheads 2\n5 a\n".getBytes(java.nio.charset.StandardCharsets.UTF_8), new byte[1 << 20]}) {
      Files.write(file(), content);
      LeastOverheads file = new LeastOverheads(file());
      assertThat(file.kept()).isEmpty();
      file.keep(Map.of("NVIDIA H200", 300 * MIB));
      assertThat(new LeastOverheads(file()).kept()).hasSize(1);
    }
  }

  @Test
  void aFolderThatCannotBeWrittenStopsNobody() {
    LeastOverheads file = new LeastOverheads(folder.resolve("missing/overheads"));
    file.keep(Map.of("NVIDIA H200", 300 * MIB));
    assertThat(file.kept()).isEmpty();
  }

  private Path file() {
    return folder.resolve("overheads");
  }
}
