package dev.partita.plugin.step;

import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.Hook;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Makes the calls of partita-cdi-hook (hook-lib/cdi-hook). The hook does for the mounted libraries what depends on a
 * container's image, which only the container runtime knows.
 *
 * @param program the installed hook, on the host
 * @param folder the folder of the mounted libraries, in the container
 */
record LibraryHook(Path program, String folder) {
  /** Called in the container's mount namespace, before its root becomes the root. */
  private static final String CREATE_CONTAINER = "createContainer";

  /** More than the time after which the hook ends itself, and says so. */
  private static final OptionalInt TIMEOUT_SECONDS = OptionalInt.of(30);

  /** Puts libraries to where the image's linker looks for them; those that a container does not get are left out. */
  ContainerEdits place(List<String> names) {
    return call("place", names);
  }

  /**
   * Puts the shadows over every libcuda and NVML that the image brings itself.
   *
   * @param driver the host's driver, where the shadows may use a compat libcuda of the image that is newer; empty: they
   *        use the host's
   */
  ContainerEdits cover(Optional<String> driver) {
    return call("cover", driver.map(version -> List.of("--driver", version)).orElse(List.of()));
  }

  private ContainerEdits call(String command, List<String> more) {
    List<String> arguments =
        new ArrayList<>(List.of(String.valueOf(program.getFileName()), command, "--folder", folder));
    arguments.addAll(more);
    Hook hook = new Hook(CREATE_CONTAINER, program.toString(), arguments, List.of(), TIMEOUT_SECONDS);
    return new ContainerEdits(List.of(), List.of(), List.of(), List.of(hook), List.of());
  }
}
