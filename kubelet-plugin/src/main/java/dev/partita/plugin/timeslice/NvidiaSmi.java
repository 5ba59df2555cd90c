package dev.partita.plugin.timeslice;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.cdi.driver.DriverFile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.cdi.driver.DriverProgram;
import dev.partita.cdi.driver.DriverProgram.Outcome.Ended;
import dev.partita.cdi.driver.DriverProgram.Outcome.Hangs;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.cdi.driver.DriverSearch;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Sets time slices by {@code nvidia-smi compute-policy --set-timeslice} of the driver root. NVML has no public function
 * for it (as of its API reference for driver 615), so the program is the driver's only door; NVIDIA's own DRA driver
 * goes through it, too. It needs root. What it prints is documented nowhere, so nothing is read of it but its exit
 * status, which is NVML's number of an error.
 */
public final class NvidiaSmi implements TimeSliceControl {
  /** Without persistence mode the program first wakes the card, which takes seconds; kubelet gives a call 45 s. */
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private static final String PROGRAM = "nvidia-smi";
  private static final int NO_PERMISSION = 4;

  /** NVML_ERROR_NOT_FOUND, NVML_ERROR_DRIVER_NOT_LOADED and NVML_ERROR_GPU_IS_LOST. */
  private static final Set<Integer> GONE = Set.of(6, 9, 15);

  private final DriverRoot root;
  private final Duration patience;

  /** @param root where the driver is; it is looked at anew each time, whether or not the cards have been read yet */
  public NvidiaSmi(DriverRoot root) {
    this(root, PATIENCE);
  }

  NvidiaSmi(DriverRoot root, Duration patience) {
    this.root = root;
    this.patience = patience;
  }

  @Override
  public void set(String card, TimeSlice slice) throws IOException {
    DriverFiles files = switch (root.search()) {
      case DriverSearch.Found(DriverFiles found) -> found;
      case DriverSearch.NotFound(String what, String _) -> throw new CardGoneException(what);
    };
    Path program = files.program(PROGRAM).map(DriverFile::localPath)
        .orElseThrow(() -> new IOException("there is no " + PROGRAM + " below the driver root, by which alone a time"
            + " slice can be set; install the whole driver, or have claims leave sharing.interval out"));
    run(card, List.of(program.toString(), "compute-policy", "-i", card, "--set-timeslice",
        String.valueOf(slice.number())), files.nvml().map(DriverFile::localPath));
  }

  /** @param nvml which the program is to open: its folder may hold another C library, so it is handed in alone */
  private void run(String card, List<String> command, Optional<Path> nvml) throws IOException {
    Map<String, String> environment =
        nvml.map(library -> Map.of("LD_PRELOAD", library.toString())).orElseGet(Map::of);
    switch (DriverProgram.run(command, environment, "", patience)) {
      case Ended(int status, String said) when status != 0 -> throw failed(card, status, said);
      case Ended _ -> {}
      case Hangs _ -> throw new IOException(PROGRAM + " has not ended for " + patience.toSeconds()
          + " s; see dmesg and nvidia-smi on the node");
    }
  }

  private static IOException failed(String card, int status, String said) {
    String what = PROGRAM + " compute-policy -i " + card + " ended with status " + status + ": " + said;
    if (GONE.contains(status)) {
      return new CardGoneException(what);
    }
    return new IOException(status == NO_PERMISSION ? what + " (the plugin must be root there)" : what);
  }
}
