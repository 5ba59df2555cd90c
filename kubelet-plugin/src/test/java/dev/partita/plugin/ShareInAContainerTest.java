package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiJson;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Mount;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The CDI edits as they were written, applied in a mount namespace over this machine's own root, with real libraries. */
@EnableKubernetesMockClient(crud = true)
class ShareInAContainerTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aProgramSeesItsShareAndIsHeldToIt() throws Exception {
    try (TestNode node = TestNode.withCards("node-s", "h200x2")) {
      assumeTrue(Container.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = KubeletPlugin.start(settings(node), client)) {
        Container quarter = container(node, client.resource(claim("quarter", share("node-s", "gpu", 0, "8Gi", "25"))).create());
        Container neighbour = container(node, client.resource(claim("neighbour", share("node-s", "gpu", 0, "20Gi", ""))).create());
        Container whole = container(node, client.resource(claim("all", whole("node-s", "gpu", 1))).create());

        assertThat(quarter.run("info")).contains("device 0 uuid=GPU-", "total=8589934592").doesNotContain("device 1");
        assertThat(quarter.run("alloc", "6Gi")).contains("CUDA_SUCCESS");
        assertThat(quarter.run("alloc", "9Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
        assertThat(neighbour.run("alloc", "9Gi")).contains("CUDA_SUCCESS");
        assertThat(whole.run("alloc", "100Gi")).contains("CUDA_SUCCESS");
        assertThat(quarter.smi()).contains("8192MiB");
      }
    }
  }

  private static PluginSettings settings(TestNode node) throws IOException {
    return node.settings()
        .hookLibraries(TestNode.DIST.resolve("lib"))
        .extraDriverMounts(
            List.of(ExtraDriverMount.parse("/etc/partita-simulator"), ExtraDriverMount.parse("/run/partita-simulator:rw")))
        .build();
  }

  private static Container container(TestNode node, ResourceClaim claim) throws IOException {
    String id = node.prepare(claim).getDevices(0).getCdiDeviceIds(0);
    CdiSpec spec = CdiJson.read(Files.readAllBytes(node.cdiFile(claim)), "spec");
    CdiDevice device = spec.devices().stream().filter(d -> spec.kind().idOf(d.name()).equals(id)).findFirst().orElseThrow();
    return new Container(Files.createDirectory(node.root.resolve(claim.getMetadata().getName())), spec.containerEdits().then(device.containerEdits()));
  }

  private record Container(Path folder, ContainerEdits edits) {
    static boolean canRun(Path folder) throws IOException, InterruptedException {
      Container empty = new Container(Files.createDirectory(folder.resolve("empty")), ContainerEdits.NONE);
      return empty.inside("echo works").contains("works");
    }

    String run(String... arguments) throws IOException, InterruptedException {
      return inside("/partita-probe " + String.join(" ", arguments));
    }

    String smi() throws IOException, InterruptedException {
      return inside("/usr/bin/nvidia-smi");
    }

    /** Runs a command with the edits applied; gives what it writes. */
    private String inside(String command) throws IOException, InterruptedException {
      StringBuilder script = new StringBuilder("set -e\nmkdir -p layers root\nmount -t tmpfs none layers\nmkdir layers/u layers/w\n");
      script.append("mount -t overlay none -o lowerdir=/,upperdir=$PWD/layers/u,workdir=$PWD/layers/w root\n");
      script.append("mount --rbind /proc root/proc\n");
      bind(script, TestNode.DIST.resolve("bin/partita-probe").toString(), "/partita-probe");
      for (Mount mount : edits.mounts()) {
        bind(script, mount.hostPath(), mount.containerPath());
      }
      for (DeviceNode node : edits.deviceNodes()) {
        bind(script, node.hostPath().orElse(node.path()), node.path());
      }
      script.append("exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin ").append(String.join(" ", edits.env())).append(" chroot root ").append(command).append(" 2>&1\n");
      Process process =
          new ProcessBuilder(Stream.concat(unshare(), Stream.of("sh", "-c", script.toString())).toList())
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor();
      return output;
    }

    /** Root needs no user namespace, in which an overlay over the machine's root is refused by some kernels. */
    private static Stream<String> unshare() {
      return "root".equals(System.getProperty("user.name"))
          ? Stream.of("unshare", "--mount")
          : Stream.of("unshare", "--user", "--map-root-user", "--mount");
    }

    private static void bind(StringBuilder script, String from, String to) {
      script.append("mkdir -p root").append(Path.of(to).getParent()).append('\n');
      script.append("if [ -d ").append(from).append(" ]; then mkdir -p root").append(to);
      script.append("; else [ -e root").append(to).append(" ] || touch root").append(to).append("; fi\n");
      script.append("mount --bind ").append(from).append(" root").append(to).append('\n');
    }
  }
}
