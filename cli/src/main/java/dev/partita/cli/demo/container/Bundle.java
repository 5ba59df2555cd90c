package dev.partita.cli.demo.container;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cdi.Hook;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What an OCI runtime lays out for the hooks of a container: its configuration, as far as hooks look at it, and its
 * state. The hooks are called by a script, which the container's mount namespace runs when its mounts are made.
 *
 * @param folder the bundle's
 */
record Bundle(Path folder) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String VERSION = "1.2.0";

  /**
   * Writes one.
   *
   * @param root the folder that the container takes for its root
   */
  static Bundle write(Path folder, String name, Path root, ContainerSpec spec) throws IOException {
    Bundle bundle = new Bundle(Files.createDirectories(folder));
    List<String> env = new ArrayList<>();
    spec.env().forEach((variable, value) -> env.add(variable + "=" + value));
    JSON.writeValue(
        folder.resolve("config.json").toFile(),
        Map.of("ociVersion", VERSION, "root", Map.of("path", root.toString()), "process",
            Map.of("env", env, "cwd", "/")));
    JSON.writeValue(
        bundle.state().toFile(),
        Map.of("ociVersion", VERSION, "id", name, "status", "creating", "bundle", folder.toString()));
    Files.write(bundle.hooks(), spec.hooks().stream().map(bundle::call).toList());
    return bundle;
  }

  /**
   * The script that calls the hooks one after the other, and ends with the status of the first that fails. Only of that
   * one it shows what it said, as runtimes do.
   */
  Path hooks() {
    return folder.resolve("hooks.sh");
  }

  private Path log() {
    return folder.resolve("hooks.log");
  }

  private Path state() {
    return folder.resolve("state.json");
  }

  private String call(Hook hook) {
    List<String> command = new ArrayList<>(List.of("env", "-i"));
    command.addAll(hook.env());
    if (hook.timeoutSeconds().isPresent()) {
      command.addAll(List.of("timeout", Integer.toString(hook.timeoutSeconds().getAsInt())));
    }
    command.add(hook.path());
    hook.args().stream().skip(1).forEach(command::add); // the first is the program's own name
    return String.join(" ", command.stream().map(Bundle::quoted).toList())
        + " < %s > %s 2>&1 || { status=$?; cat %2$s >&2; exit $status; }".formatted(quoted(state().toString()),
            quoted(log().toString()));
  }

  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }
}
