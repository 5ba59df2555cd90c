package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.DependsOnVersion;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import dev.partita.e2e.pages.FencedBlock;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The API server takes every object in the pages and in deploy/examples as it is, each field known. Nothing is made:
 * all of it is a dry run. What a config of ours says is judged by our webhook, in the claims, and by DocumentsTest
 * where it stands alone.
 */
@OnRealCluster
@DependsOnVersion
class DocumentsIT {
  private static final Pattern BETWEEN_DOCUMENTS = Pattern.compile("(?m)^---\\s*$");
  private static final Pattern OBJECT = Pattern.compile("(?m)^apiVersion: .*");
  private static final Pattern TAINT_RULE = Pattern.compile("(?m)^kind: DeviceTaintRule$");
  private static final Pattern POD_GROUP = Pattern.compile("(?m)^kind: PodGroup$");
  private static final Pattern OTHERS =
      Pattern.compile(
          "(?m)^apiVersion: (config\\.)?(kueue\\.x-k8s\\.io|(scheduling|batch)\\.volcano\\.sh|scheduling\\.run\\.ai)/");
  private static final Pattern CONFIG = Pattern.compile("(?m)^kind: GpuShareConfig$");

  @Test
  void theApiServerTakesEveryObject(RealCluster cluster, Workspace workspace) throws IOException {
    List<String> refused = new ArrayList<>();
    int taken = 0;
    for (Path file : files(cluster.home())) {
      for (String document : documents(file)) {
        if (OTHERS.matcher(document).find()) {
          continue; // the tests of dev.partita.e2e.outside apply them, where these are installed
        }
        if (TAINT_RULE.matcher(document).find() && !cluster.serves("resource.k8s.io/v1", "DeviceTaintRule")) {
          continue; // it came with Kubernetes 1.37
        }
        if (POD_GROUP.matcher(document).find() && !cluster.serves("scheduling.k8s.io/v1beta1", "PodGroup")) {
          continue; // a feature gate switches it on
        }
        try {
          workspace.dryRunStrictly(document);
          taken++;
        } catch (KubernetesClientException e) {
          refused.add(cluster.home().relativize(file) + ": " + e.getMessage());
        }
      }
    }
    assertThat(refused).isEmpty();
    assertThat(taken).as("objects found").isGreaterThan(20);
  }

  private static List<Path> files(Path home) throws IOException {
    List<Path> files = new ArrayList<>(List.of(home.resolve("README.md")));
    for (String folder : List.of("docs", "deploy/examples")) {
      try (Stream<Path> found = Files.walk(home.resolve(folder))) {
        found.filter(file -> file.toString().matches(".*\\.(md|yaml)")).sorted().forEach(files::add);
      }
    }
    return files;
  }

  /** The Kubernetes objects of a page, or of a file of YAML. */
  private static List<String> documents(Path file) throws IOException {
    String text = Files.readString(file);
    Stream<String> blocks = file.toString().endsWith(".md") ? FencedBlock.yaml(text) : Stream.of(text);
    return blocks
        .flatMap(BETWEEN_DOCUMENTS::splitAsStream)
        .filter(document -> OBJECT.matcher(document).find() && !CONFIG.matcher(document).find())
        .toList();
  }
}
