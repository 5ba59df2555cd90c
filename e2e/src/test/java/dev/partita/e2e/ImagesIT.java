package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Images in which a program would find another libcuda than the share's, or none; and our own. */
@OnRealCluster
class ImagesIT {
  private static final String QUOTA = "total=8589934592";

  @TempDir Path folder = Path.of("");

  @Test
  void anImagesOwnLibcudaInFrontOnTheLibraryPathIsCovered(RealCluster cluster, Workspace workspace) {
    String driver = cluster.home() + "/hook-lib/target/dist/simulator/libcuda.so";
    String image =
        image(
            cluster,
            "compat",
            driver + ":/usr/local/cuda/compat/libcuda.so.1",
            driver + ":/opt/elsewhere/libcuda.so.1",
            "--env",
            "LD_LIBRARY_PATH=/usr/local/cuda/compat");
    PodUnderTest pod =
        workspace.podOf(
            image,
            "compat",
            cluster.quietNodes().getFirst(),
            Ask.share("8Gi"),
            """
                partita-probe info
                partita-probe alloc 9Gi
                echo "status $?"
                LD_LIBRARY_PATH=/opt/elsewhere partita-probe info | sed 's/^/uncovered: /'
                """);

    assertThat(pod.awaitLog())
        .containsPattern("(?m)^device 0 .*" + QUOTA)
        .contains("CUDA_ERROR_OUT_OF_MEMORY", "status 3")
        .as("what such a library would show if nothing covered it")
        .containsPattern("uncovered: device 0 .* total=1[45][0-9]{10} ");
  }

  @Test
  void anImageWhoseLinkerReadsOtherFoldersThanTheHostsFindsTheSharesLibraries(RealCluster cluster, Workspace workspace)
      throws IOException {
    Path loader = elsewhere(Path.of("/lib64/ld-linux-x86-64.so.2"));
    List<String> files = new ArrayList<>(List.of(loader + ":/opt/foreign/ld.so"));
    try (Stream<Path> own = Files.list(Path.of("/lib/x86_64-linux-gnu"))) {
      own.filter(file -> String.valueOf(file.getFileName()).matches("lib(c|dl|m|pthread|rt)\\.so\\.[0-9]"))
          .forEach(file -> files.add(file + ":/usr/lib/" + file.getFileName()));
    }
    PodUnderTest pod =
        workspace.podOf(
            image(cluster, "foreign", files.toArray(String[]::new)),
            "foreign",
            cluster.quietNodes().getFirst(),
            Ask.share("8Gi"),
            """
                /opt/foreign/ld.so --inhibit-cache /usr/bin/partita-probe info
                /opt/foreign/ld.so --inhibit-cache /usr/bin/partita-probe alloc 9Gi
                echo "status $?"
                grep -c '/usr/lib/libcuda.so.1 ' /proc/self/mountinfo
                """);

    assertThat(pod.awaitLog()).containsPattern("(?m)^device 0 .*" + QUOTA)
        .contains("CUDA_ERROR_OUT_OF_MEMORY", "status 3").endsWith("1\n");
  }

  /** As they come from {@code partita images}, on the lab's base. */
  @Test
  void imagesThatWereMadeWithoutADaemonRun(RealCluster cluster, Workspace workspace) throws IOException {
    assumeTrue(cluster.lab().isPresent(), "only a lab has a base image at hand");
    assumeTrue(Files.exists(cluster.home().resolve("deploy/target/images/kubelet-plugin/bom.json")),
        "an offline build (mvn -o) lists no jars");
    Path base = folder.resolve("base.tar");
    cluster.lab().orElseThrow().image("localhost/partita-e2e/base:1", base, List.of());
    Outcome made =
        cluster.command().run("images", "probe", "kubelet-plugin", "dra-controller", "--base", base.toString(),
            "--registry",
            "localhost/partita-e2e", "--tag", "archived", "--output", folder.toString());
    assertThat(made.status()).as(made.err()).isZero();
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> archives = files.filter(file -> file.toString().matches(".*-linux-[a-z0-9]+\\.tar")).toList();
      assertThat(archives).hasSize(3).allSatisfy(
          archive -> assertThat(Files.size(archive)).as("%s", archive)
              .isLessThan(archive.toString().contains("dra-controller") ? 100L << 20 : 120L << 20));
      archives.forEach(cluster::load);
    }
    String node = cluster.quietNodes().getFirst();
    PodUnderTest probe =
        workspace.podOf("localhost/partita-e2e/probe:archived", "archived", node, Ask.share("8Gi"), """
            echo "user $(id -u)"
            partita-probe info
            """);
    assertThat(probe.awaitLog()).contains("user 65532").containsPattern("(?m)^device 0 .*" + QUOTA);
    PodUnderTest plugin =
        workspace.podOf("localhost/partita-e2e/kubelet-plugin:archived", "plugin", node, Ask.share("8Gi"), """
            echo "user $(id -u)"
            /usr/lib/partita/runtime/bin/java -XX:AOTMode=on @/usr/lib/partita/java.args --help
            """);
    assertThat(plugin.awaitLog()).as("with its AOT cache, which holds for jars of the time that they have in the image")
        .contains("user 0", "Usage: partita-kubelet-plugin");
  }

  /** This machine's linker, made to look in another folder than Debian's: it then reads /lib and /usr/lib only. */
  private Path elsewhere(Path linker) throws IOException {
    assumeTrue(Files.isReadable(linker), linker + " is not there: this makes an image out of a Debian machine's files");
    String changed = new String(Files.readAllBytes(linker), StandardCharsets.ISO_8859_1).replace("x86_64-linux-gnu",
        "x86_64-elsewhere");
    Path file = Files.write(folder.resolve("ld.so"), changed.getBytes(StandardCharsets.ISO_8859_1));
    assertThat(file.toFile().setExecutable(true)).isTrue();
    return file;
  }

  /** Makes an image with the probe and more on the cluster's nodes; its name. */
  private String image(RealCluster cluster, String name, String... more) {
    assumeTrue(cluster.lab().isPresent(), "only a lab makes images here");
    String reference = "localhost/partita-e2e/" + name + ":1";
    List<String> content = new ArrayList<>(List.of(more));
    content.add(cluster.home() + "/deploy/target/images/probe/root/usr/bin/partita-probe:/usr/bin/partita-probe");
    Path archive = folder.resolve(name + ".tar");
    cluster.lab().orElseThrow().image(reference, archive, content);
    cluster.load(archive);
    return reference;
  }
}
