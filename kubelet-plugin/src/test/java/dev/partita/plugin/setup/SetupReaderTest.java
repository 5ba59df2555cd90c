package dev.partita.plugin.setup;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.partita.api.node.NodeSetup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

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
    SetupReader.Folders folders = new SetupReader.Folders(root.resolve("none"), root, root);
    assertThat(new SetupReader(folders, mounts(true), () -> false, true).read().cgroupVersion()).isNull();
  }

  @Test
  void aHookOnAMountWithoutExecCannotBeStarted() throws IOException {
    Files.writeString(root.resolve("mountinfo"), "27 1 254:0 / / rw - ext4 /dev/a rw\n28 27 254:1 / " + root
        + " rw,nosuid,noexec,relatime - ext4 /dev/b rw\n");
    NodeSetup setup = read(root, true);
    assertThat(setup.installFolder()).isEqualTo(root + "/opt");
    assertThat(setup.installProblem()).isEqualTo(root + " is mounted noexec");
    assertThat(readWithoutNodeMounts()).isEqualTo(setup);
  }

  @Test
  void aHookThatCannotBeStartedIsWarnedOfOnceUntilItCan() throws IOException {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    Logger log = (Logger) LoggerFactory.getLogger(SetupReader.class);
    log.setLevel(Level.WARN);
    log.addAppender(lines);
    try {
      SetupReader reader = new SetupReader(folders(root), mounts(true), () -> true, true);
      for (String options : List.of("rw,noexec", "rw,noexec", "rw", "rw,noexec")) {
        Files.writeString(root.resolve("mountinfo"), "27 1 254:0 / / " + options + " - ext4 /dev/a rw\n");
        reader.read();
      }
    } finally {
      log.detachAppender(lines);
      log.setLevel(null); // as the configuration has it
    }
    assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage).filter(line -> line.contains(root + "/opt")))
        .hasSize(2).allSatisfy(line -> assertThat(line).contains("containers with a GPU cannot start",
            ": / is mounted noexec"));
  }

  @Test
  void mountsThatAreNotTheNodesDoNotShowThatAHookCanBeStarted() throws IOException {
    Files.writeString(root.resolve("mountinfo"), "27 1 254:0 / / rw - ext4 /dev/a rw\n");
    assertThat(read(root, true).installFolder()).isEqualTo(root + "/opt");
    assertThat(read(root, true).installProblem()).isNull();
    assertThat(readWithoutNodeMounts().installFolder()).isNull();
  }

  @Test
  void mountsThatCannotBeReadSayNothing() {
    assertThat(read(root, true).installFolder()).isNull();
  }

  private NodeSetup readWithoutNodeMounts() {
    return new SetupReader(folders(root), mounts(false), () -> true, true).read();
  }

  private NodeSetup read(Path cdi, boolean used) {
    return new SetupReader(folders(cdi), mounts(true), () -> used, true).read();
  }

  private SetupReader.Folders folders(Path cdi) {
    return new SetupReader.Folders(root, cdi, root.resolve("opt"));
  }

  private SetupReader.NodeMounts mounts(boolean areTheNodes) {
    return new SetupReader.NodeMounts(root.resolve("mountinfo"), areTheNodes);
  }
}
