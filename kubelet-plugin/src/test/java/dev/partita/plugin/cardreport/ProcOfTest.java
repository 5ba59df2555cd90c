package dev.partita.plugin.cardreport;

import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.usage.measure.ContainerShares;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.PodClaims;
import dev.partita.plugin.usage.measure.RegionsFolder;
import dev.partita.plugin.usage.measure.ShareRef;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.Set;

/** A /proc with the files that are read of processes. */
final class ProcOfTest {
  private static final int DEVICE = 25;

  private final Path proc;

  ProcOfTest(Path proc) throws IOException {
    this.proc = proc;
    Path self = Files.createDirectories(proc.resolve("self/ns"));
    Files.createSymbolicLink(self.resolve("pid"), Path.of("pid:[4026531836]")); // the machine's own
    Files.createSymbolicLink(self.resolve("mnt"), Path.of("mnt:[1]"));
  }

  /** @param client that is asked which claims pods have */
  NewProcesses newProcesses(KubernetesClient client) {
    HostProcesses host = new HostProcesses(proc);
    PodClaims pods =
        new PodClaims(new ClaimReader(client, ApiCalls.standard()), claim -> Optional.of(Set.of()), Clock.systemUTC());
    return new NewProcesses(host,
        new ContainerShares(host, pods, () -> new RegionsFolder(DEVICE, Optional.of("/partita"))));
  }

  /** A process in a container that has a share. */
  void begin(long pid, ShareRef share) throws IOException {
    begin(pid, "36 35 0:" + DEVICE + " /partita/shares/" + share.uid() + "/" + share.key()
        + "/usage /run/partita/usage rw - tmpfs tmpfs rw\n", "0::/\n");
  }

  /** A process that has hidden its mounts, in a pod's cgroup. */
  void beginInPod(long pid, String podUid) throws IOException {
    begin(pid, "36 35 0:99 / / rw - overlay overlay rw\n",
        "0::/kubepods/besteffort/pod" + podUid + "/" + "0c".repeat(32)
            + "\n");
  }

  private void begin(long pid, String mounts, String cgroup) throws IOException {
    Path folder = Files.createDirectories(proc.resolve(Long.toString(pid)));
    Files.writeString(folder.resolve("stat"),
        pid + " (program) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21\n");
    Files.writeString(folder.resolve("mountinfo"), mounts);
    Files.writeString(folder.resolve("cgroup"), cgroup);
    Files.createDirectories(folder.resolve("ns"));
    Files.createSymbolicLink(folder.resolve("ns/mnt"), Path.of("mnt:[2]"));
  }

  /** It ends without a trace. */
  void end(long pid) throws IOException {
    Path folder = proc.resolve(Long.toString(pid));
    for (String file : new String[]{"stat", "mountinfo", "cgroup", "ns/mnt", "ns", "."}) {
      Files.delete(folder.resolve(file).normalize());
    }
  }
}
