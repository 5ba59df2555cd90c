package dev.partita.cli.demo.container;

import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Hook;
import dev.partita.cdi.Mount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a container is made of, apart from its image's files.
 *
 * @param env the process's environment
 * @param devices device nodes, at most one at a path
 * @param mounts bind mounts, at most one at a path, in the order in which they are made
 * @param hooks createContainer hooks, in the order in which they are called
 */
public record ContainerSpec(Map<String, String> env, List<DeviceNode> devices, List<Mount> mounts, List<Hook> hooks) {
  public ContainerSpec {
    env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
    devices = List.copyOf(devices);
    mounts = List.copyOf(mounts);
    hooks = List.copyOf(hooks);
  }

  /** One without hooks. */
  public ContainerSpec(Map<String, String> env, List<DeviceNode> devices, List<Mount> mounts) {
    this(env, devices, mounts, List.of());
  }

  /** The same with another environment. */
  ContainerSpec withEnv(Map<String, String> other) {
    return new ContainerSpec(other, devices, mounts, hooks);
  }

  /**
   * This container with edits applied as the CDI library in containerd applies them: a variable replaces one of the
   * same name, a device or mount one at the same path, and mounts are made from the root downwards.
   *
   * @throws IllegalArgumentException if the edits ask for OCI hooks at other moments than createContainer, which
   *         nothing here would run
   */
  public ContainerSpec with(ContainerEdits edits) {
    List<Hook> calls = new ArrayList<>(hooks);
    for (Hook hook : edits.hooks()) {
      if (!hook.hookName().equals("createContainer")) {
        throw new IllegalArgumentException(
            "the edits ask for the %s hook %s, and this runtime runs createContainer hooks only"
                .formatted(hook.hookName(), hook.path()));
      }
      calls.add(hook);
    }
    Map<String, String> variables = new LinkedHashMap<>(env);
    for (String variable : edits.env()) {
      int equals = variable.indexOf('=');
      variables.put(variable.substring(0, equals), variable.substring(equals + 1));
    }
    List<DeviceNode> nodes = new ArrayList<>(devices);
    for (DeviceNode node : edits.deviceNodes()) {
      nodes.removeIf(other -> other.path().equals(node.path()));
      nodes.add(node);
    }
    List<Mount> all = new ArrayList<>(mounts);
    for (Mount mount : edits.mounts()) {
      all.removeIf(other -> clean(other).equals(clean(mount)));
      all.add(mount);
    }
    all.sort(Comparator.comparingInt(mount -> clean(mount).getNameCount()));
    return new ContainerSpec(variables, nodes, all, calls);
  }

  private static Path clean(Mount mount) {
    return Path.of(mount.containerPath()).normalize();
  }
}
