package dev.partita.plugin.timeslice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.cdi.driver.DriverRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NvidiaSmiTest {
  @TempDir Path folder;

  @Test
  void theProgramIsGivenTheCardTheNumberAndNvmlAloneAsItsEnvironment() throws IOException {
    smi("echo \"$@\" > " + folder + "/said; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= >> " + folder + "/said").set(
        "GPU-1",
        TimeSlice.MEDIUM);
    assertThat(folder.resolve("said")).hasContent(
        "compute-policy -i GPU-1 --set-timeslice 2\nLD_PRELOAD=" + folder.resolve("usr/lib64/libnvidia-ml.so.580.1"));
  }

  @Test
  void whatTheProgramSaysOfAFailureIsPassedOnInOneLineThatIsNotTooLong() {
    assertThatThrownBy(() -> smi("echo; echo something; echo '  went wrong'; exit 3").set("GPU-1", TimeSlice.LONG))
        .isNotInstanceOf(TimeSliceControl.CardGoneException.class)
        .hasMessageStartingWith("nvidia-smi compute-policy -i GPU-1 ended with status 3: ")
        .hasMessageEndingWith(" something went wrong");
    assertThatThrownBy(() -> smi("echo Insufficient Permissions; exit 4").set("GPU-1", TimeSlice.LONG))
        .hasMessageEndingWith("Insufficient Permissions (the plugin must be root there)");
    Throwable much = catchThrowable(
        () -> smi("for i in 1 2 3 4 5 6 7 8 9; do printf '%0100d' $i; done; exit 3").set("GPU-1", TimeSlice.LONG));
    assertThat(much.getMessage()).hasSizeLessThan(500);
  }

  @ParameterizedTest
  @ValueSource(ints = {6, 9, 15})
  void aCardOrADriverThatIsGoneIsToldApart(int status) {
    assertThatThrownBy(() -> smi("exit " + status).set("GPU-1", TimeSlice.LONG))
        .isInstanceOf(TimeSliceControl.CardGoneException.class);
  }

  @Test
  void aProgramThatDoesNotEndIsEnded() throws IOException {
    Path pid = folder.resolve("pid");
    NvidiaSmi hangs = new NvidiaSmi(driver("echo $$ > " + pid + "; exec sleep 600"), Duration.ofSeconds(2));
    assertThatThrownBy(() -> hangs.set("GPU-1", TimeSlice.LONG)).hasMessageContaining("nvidia-smi has not ended");
    long number = Long.parseLong(Files.readString(pid).strip());
    ProcessHandle.of(number).ifPresent(its -> its.onExit().join());
    assertThat(ProcessHandle.of(number).map(ProcessHandle::isAlive).orElse(false)).isFalse();
  }

  @Test
  void whatItHasStartedIsNotWaitedFor() {
    long begin = System.nanoTime();
    assertThatThrownBy(() -> smi("sleep 60 & echo left; exit 3").set("GPU-1", TimeSlice.LONG))
        .hasMessageContaining(" left");
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(30));
  }

  @Test
  void withoutTheProgramItIsSaidWhatToDoAndWithoutADriverThereIsNoCard() throws IOException {
    DriverRoot root = driver("");
    Files.delete(folder.resolve("usr/bin/nvidia-smi"));
    assertThatThrownBy(() -> new NvidiaSmi(root).set("GPU-1", TimeSlice.LONG))
        .isNotInstanceOf(TimeSliceControl.CardGoneException.class).hasMessageContaining("there is no nvidia-smi")
        .hasMessageContaining("leave sharing.interval out");
    Files.delete(folder.resolve("usr/lib64/libcuda.so.580.1"));
    assertThatThrownBy(() -> new NvidiaSmi(root).set("GPU-1", TimeSlice.LONG))
        .isInstanceOf(TimeSliceControl.CardGoneException.class).hasMessageContaining("no libcuda.so");
  }

  private NvidiaSmi smi(String script) throws IOException {
    return new NvidiaSmi(driver(script));
  }

  /** A driver root whose nvidia-smi is a script, and whose NVML the loader only complains of. */
  private DriverRoot driver(String script) throws IOException {
    Path program = Files.createDirectories(folder.resolve("usr/bin")).resolve("nvidia-smi");
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path libraries = Files.createDirectories(folder.resolve("usr/lib64"));
    for (String library : List.of("libcuda.so.580.1", "libnvidia-ml.so.580.1")) {
      Files.writeString(libraries.resolve(library), "");
    }
    return new DriverRoot(folder, "/");
  }
}
