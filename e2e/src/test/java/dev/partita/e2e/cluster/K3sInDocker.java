package dev.partita.e2e.cluster;

import com.github.dockerjava.api.DockerClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.images.builder.ImageFromDockerfile;
import org.testcontainers.k3s.K3sContainer;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/**
 * k3s of one node, with Partita's images on it.
 *
 * @param container k3s
 * @param kubeconfig file that leads to it
 */
record K3sInDocker(K3sContainer container, Path kubeconfig) implements AutoCloseable {
  private static final String IMAGE = System.getenv().getOrDefault("PARTITA_K3S_IMAGE", "rancher/k3s:v1.36.3-k3s1");

  static K3sInDocker start(Path home, Path target) {
    K3sContainer container = new K3sContainer(DockerImageName.parse(IMAGE).asCompatibleSubstituteFor("rancher/k3s"));
    container.start();
    try {
      for (Path image : staged(home.resolve("deploy/target/images"))) {
        load(container, image, target);
      }
      Path kubeconfig =
          Files.writeString(Files.createDirectories(target).resolve("k3s.kubeconfig"), container.getKubeConfigYaml());
      return new K3sInDocker(container, kubeconfig);
    } catch (IOException | InterruptedException failure) {
      container.stop();
      throw new IllegalStateException("images cannot be put on k3s", failure);
    }
  }

  private static List<Path> staged(Path images) throws IOException {
    try (Stream<Path> folders = Files.list(images)) {
      return folders.filter(folder -> Files.exists(folder.resolve("Containerfile"))).toList();
    }
  }

  private static void load(K3sContainer container, Path staged, Path target) throws IOException, InterruptedException {
    String name = "localhost/partita/" + staged.getFileName() + ":dev";
    new ImageFromDockerfile(name, false).withDockerfile(staged.resolve("Containerfile")).get();
    Path archive = target.resolve(staged.getFileName() + ".tar");
    try {
      save(name, archive);
      container.copyFileToContainer(MountableFile.forHostPath(archive), "/tmp/image.tar");
    } finally {
      Files.deleteIfExists(archive);
    }
    var imported = container.execInContainer("ctr", "-n", "k8s.io", "images", "import", "/tmp/image.tar");
    if (imported.getExitCode() != 0) {
      throw new IllegalStateException(name + " cannot be put on k3s: " + imported.getStderr());
    }
  }

  @SuppressWarnings("resource") // Testcontainers' own client, which is not ours to close
  private static void save(String image, Path archive) {
    DockerClient docker = DockerClientFactory.lazyClient();
    try (InputStream layers = docker.saveImageCmd(image).exec()) {
      Files.copy(layers, archive);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    container.stop();
  }
}
