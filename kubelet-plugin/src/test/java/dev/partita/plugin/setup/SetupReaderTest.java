package dev.partita.plugin.setup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.NodeSetup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SetupReaderTest {
  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  @ParameterizedTest
  @CsvSource({"cgroup2,2", "tmpfs,1", "cgroup,1", "sysfs,", "overlay,"})
  void theVersionOfCgroupsIsThatOfTheFileSystem(String type, Integer version) {
    assertThat(SetupReader.cgroupVersion(type)).isEqualTo(version);
  }

  @Test
  void aFolderThatCanBeWrittenHasNoProblem() {
    NodeSetup setup = read(root, true);
    assertThat(setup.cdiFolder()).isEqualTo(root.toString());
    assertThat(setup.cdiProblem()).isNull();
    assertThat(setup.cdiApplied()).isTrue();
  }

  @Test
  void aFolderThatIsNotThereOrIsAFileIsNamedAsWhatItIs() throws IOException {
    assertThat(read(root.resolve("none"), false).cdiProblem()).isEqualTo("there is no such folder");
    assertThat(read(Files.createFile(root.resolve("file")), false).cdiProblem()).isEqualTo("it is no folder");
  }

  @Test
  void cgroupsThatAreNotMountedHaveNoVersion() {
    assertThat(new SetupReader(root.resolve("none"), root, () -> false).read().cgroupVersion()).isNull();
  }

  private NodeSetup read(Path cdi, boolean used) {
    return new SetupReader(root, cdi, () -> used).read();
  }
}
