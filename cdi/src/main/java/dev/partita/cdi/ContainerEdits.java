package dev.partita.cdi;

import java.util.ArrayList;
import java.util.List;

/**
 * Changes to a container. A later mount or device node at the same container path replaces an earlier one.
 *
 * @param env {@code NAME=value}
 * @param deviceNodes device nodes, with their cgroup permission
 * @param mounts bind mounts
 * @param hooks OCI hooks
 * @param additionalGids supplementary groups of the container's process
 */
public record ContainerEdits(
    List<String> env,
    List<DeviceNode> deviceNodes,
    List<Mount> mounts,
    List<Hook> hooks,
    List<Long> additionalGids) {

  public static final ContainerEdits NONE =
      new ContainerEdits(List.of(), List.of(), List.of(), List.of(), List.of());

  public ContainerEdits {
    env = List.copyOf(env);
    deviceNodes = List.copyOf(deviceNodes);
    mounts = List.copyOf(mounts);
    hooks = List.copyOf(hooks);
    additionalGids = List.copyOf(additionalGids);
  }

  public static ContainerEdits of(List<String> env, List<DeviceNode> deviceNodes, List<Mount> mounts) {
    return new ContainerEdits(env, deviceNodes, mounts, List.of(), List.of());
  }

  public boolean isEmpty() {
    return env.isEmpty()
        && deviceNodes.isEmpty()
        && mounts.isEmpty()
        && hooks.isEmpty()
        && additionalGids.isEmpty();
  }

  /** These edits, then the other ones. */
  public ContainerEdits then(ContainerEdits later) {
    return new ContainerEdits(
        join(env, later.env),
        join(deviceNodes, later.deviceNodes),
        join(mounts, later.mounts),
        join(hooks, later.hooks),
        join(additionalGids, later.additionalGids));
  }

  private static <T> List<T> join(List<T> first, List<T> second) {
    List<T> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }
}
