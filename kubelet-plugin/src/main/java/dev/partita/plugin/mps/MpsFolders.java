package dev.partita.plugin.mps;

import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.Mount;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.Mps;
import dev.partita.plugin.grant.Share;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Where MPS daemons have their files, and what a container gets to reach one.
 *
 * @param root a folder on the node for all cards, {@code <run root>/mps}
 * @param shared a folder on the node that is this process's own /dev/shm, so that a daemon which it begins has it there
 */
public record MpsFolders(Path root, Path shared) {
  /**
   * As libcuda looks for it by itself: a program that does not hand its environment on finds the daemon all the same.
   */
  private static final String IN_CONTAINER_PIPE = "/tmp/nvidia-mps";

  private static final String SHARED_MEMORY = "/dev/shm";

  /** Cards whose daemons containers reach by a claim's spec, by their UUIDs. */
  public Set<String> cardsOf(CdiSpec spec) {
    int depth = root.getNameCount();
    return spec.devices().stream().flatMap(device -> device.containerEdits().mounts().stream())
        .map(mount -> Path.of(mount.hostPath()))
        .filter(path -> path.startsWith(root) && path.getNameCount() > depth)
        .map(path -> String.valueOf(path.getName(depth)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The folder of all that one daemon has. */
  public Path of(String card) {
    return root.resolve(card);
  }

  /** Its sockets. */
  public Path pipe(String card) {
    return of(card).resolve("pipe");
  }

  /** Its log files, which no container sees. */
  public Path log(String card) {
    return of(card).resolve("log");
  }

  /**
   * What a container gets. The sockets are mounted read-only, which keeps nobody from connecting to them (NVIDIA's
   * libcuda 550 was seen to do nothing else there, by strace): so no container can put another socket in their place,
   * or fill the node's /run. Server and clients share memory in /dev/shm, whence both must have the same one. The card
   * is the only one of its daemon, so it has the ordinal 0 there.
   */
  public ContainerEdits edits(CardIdentity card, Mps mps) {
    Share share = mps.its();
    List<String> env = new ArrayList<>();
    env.add("CUDA_MPS_PIPE_DIRECTORY=" + IN_CONTAINER_PIPE);
    if (share.cores() > 0) {
      env.add("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=" + share.cores());
    }
    env.add("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=" + MpsCeiling.mebibytes(share) + "M");
    return ContainerEdits.of(env, List.of(), List.of(
        Mount.readOnly(pipe(card.uuid()).toString(), IN_CONTAINER_PIPE),
        Mount.readWrite(shared.toString(), SHARED_MEMORY)));
  }
}
