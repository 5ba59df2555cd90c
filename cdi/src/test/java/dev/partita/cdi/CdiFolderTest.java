package dev.partita.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CdiFolderTest {
  @TempDir Path temporary;

  @Test
  void whatIsWrittenIsListedReadAndRemoved() throws IOException {
    CdiFolder folder = new CdiFolder(temporary.resolve("made/later"), "v-c");
    assertThat(folder.ids()).isEmpty();
    folder.write("b", spec("b"));
    folder.write("a", spec("a"));
    folder.write("a", spec("again"));
    assertThat(folder.ids()).containsExactly("a", "b");
    assertThat(folder.read("a")).contains(spec("again"));
    assertThat(folder.read("c")).isEmpty();
    assertThat(folder.fileOf("a").getFileName()).hasToString("v-c_a.json");
    assertThat(Files.getPosixFilePermissions(folder.fileOf("a")))
        .isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
    assertThat(folder.remove("a")).isTrue();
    assertThat(folder.remove("a")).isFalse();
    assertThat(folder.ids()).containsExactly("b");
  }

  @Test
  void filesOfOthersAreLeftAlone() throws IOException {
    CdiFolder folder = new CdiFolder(temporary, "v-c");
    Files.writeString(temporary.resolve("nvidia.json"), "{}");
    Files.writeString(temporary.resolve(".other_a.json.x.partita-tmp"), "");
    Files.writeString(temporary.resolve(".v-c_a.json.x.partita-tmp"), "");
    folder.removeLeftovers();
    assertThat(folder.ids()).isEmpty();
    assertThat(temporary.toFile().list()).containsExactlyInAnyOrder("nvidia.json", ".other_a.json.x.partita-tmp");
  }

  @Test
  void aFileThatIsNoSpecIsAnErrorUnlessThatIsAsked() throws IOException {
    CdiFolder folder = new CdiFolder(temporary, "v-c");
    folder.write("a", spec("a"));
    assertThat(folder.readIfValid("a")).isEqualTo(folder.read("a"));
    assertThat(folder.readIfValid("none")).isEmpty();
    Files.writeString(folder.fileOf("a"), "{");
    assertThatThrownBy(() -> folder.read("a")).isInstanceOf(CdiFormatException.class);
    assertThat(folder.readIfValid("a")).isEmpty();
  }

  @Test
  void anIdCannotLeadOutOfTheFolder() {
    CdiFolder folder = new CdiFolder(temporary, "v-c");
    for (String id : List.of("../x", "a/b", "", ".", "a.")) {
      assertThatThrownBy(() -> folder.fileOf(id)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  private static CdiSpec spec(String name) {
    return CdiSpec.of(
        new CdiKind("v", "c"),
        Map.of(),
        List.of(new CdiDevice(name, ContainerEdits.of(List.of("A=b"), List.of(), List.of()))),
        ContainerEdits.NONE);
  }
}
