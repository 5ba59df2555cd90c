package dev.partita.cdi;

import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * An OCI hook.
 *
 * @param hookName one of {@link #NAMES}
 * @param path the program, on the host
 * @param args its arguments, the program's own name first
 * @param env {@code NAME=value}
 * @param timeoutSeconds after which the runtime ends it
 */
public record Hook(String hookName, String path, List<String> args, List<String> env, OptionalInt timeoutSeconds) {
  /** The moments at which the OCI runtime specification calls hooks. */
  public static final Set<String> NAMES =
      Set.of("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop");

  public Hook {
    args = List.copyOf(args);
    env = List.copyOf(env);
  }
}
