package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.marcnuri.helm.Helm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The release of Partita's chart, and what Helm does with it. */
public record HelmRelease(RealCluster cluster) {
  public static final String NAME = "partita";

  private static final String TEST = "partita-test";

  /** The values that it was installed with, as YAML. */
  public String values() {
    return Helm.get(NAME).values().withNamespace(RealCluster.NAMESPACE).withKubeConfig(kubeconfig()).call();
  }

  /** Installs the chart; does not wait. */
  public void install(Path values) {
    new Helm(chart()).install().withName(NAME).withNamespace(RealCluster.NAMESPACE).withValuesFile(values)
        .withKubeConfig(kubeconfig()).call();
  }

  /**
   * Upgrades to the same chart at another version, which all of its pods carry in a label; does not wait.
   *
   * @param folder where the other chart is written
   */
  public void upgrade(Path folder, String version) throws IOException {
    Path next = copy(chart(), folder.resolve(NAME));
    Path about = next.resolve("Chart.yaml");
    Files.writeString(about, Files.readString(about).replaceFirst("(?m)^version: .*$", "version: " + version));
    assertThat(new Helm(next).upgrade().withName(NAME).withNamespace(RealCluster.NAMESPACE).resetThenReuseValues()
        .withKubeConfig(kubeconfig()).call().getChart()).isEqualTo(NAME + "-" + version);
  }

  /** An error with Helm's words if that fails. */
  public void uninstall() {
    Helm.uninstall(NAME).withNamespace(RealCluster.NAMESPACE).withKubeConfig(kubeconfig()).call();
  }

  /** {@code helm test}, which must pass, and whose pod must have run. */
  public void test() {
    long before = startedTests();
    Helm.test(NAME).withNamespace(RealCluster.NAMESPACE).withTimeout(120).withKubeConfig(kubeconfig()).call();
    assertThat(startedTests()).as("containers of %s that started", TEST).isEqualTo(before + 1);
  }

  private long startedTests() {
    return cluster.client().v1().events().inNamespace(RealCluster.NAMESPACE).list().getItems().stream()
        .filter(event -> TEST.equals(event.getInvolvedObject().getName()) && "Started".equals(event.getReason()))
        .count();
  }

  private Path kubeconfig() {
    return Path.of(cluster.kubeconfigEnvironment().getOrDefault("KUBECONFIG", ""));
  }

  private Path chart() {
    return cluster.home().resolve("deploy/helm/partita");
  }

  private static Path copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, to.resolve(from.relativize(file)));
      }
    }
    return to;
  }
}
