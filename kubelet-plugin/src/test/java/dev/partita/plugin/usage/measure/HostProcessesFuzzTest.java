package dev.partita.plugin.usage.measure;

import static org.assertj.core.api.Assertions.assertThatNoException;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;

/** A container chooses names of its mounts, cgroups and programs, which stand in files of /proc. */
class HostProcessesFuzzTest {
  private static final long PID = 7;

  @TempDir @SuppressWarnings("NullAway.Init") Path proc;

  @FuzzTest(maxDuration = "10s")
  void whateverStandsInFilesOfAProcessReadingThemEnds(FuzzedDataProvider data) throws IOException {
    Path folder = proc.resolve(String.valueOf(PID));
    Path thread = Files.createDirectories(folder.resolve("task/" + PID));
    byte[] stat = data.consumeBytes(200);
    Files.write(folder.resolve("stat"), stat);
    Files.write(thread.resolve("stat"), stat);
    Files.write(folder.resolve("cgroup"), data.consumeBytes(400));
    Files.write(folder.resolve("mountinfo"), data.consumeRemainingAsBytes());
    HostProcesses processes = new HostProcesses(proc);
    assertThatNoException()
        .isThrownBy(
            () -> {
              processes.identity(PID);
              processes.isEnding(PID);
              processes.mounted(PID, new RegionsFolder(0, Optional.of("/partita")));
              processes.pod(PID);
            });
  }
}
