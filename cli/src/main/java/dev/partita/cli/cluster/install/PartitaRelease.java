package dev.partita.cli.cluster.install;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.InstallCommand;
import com.marcnuri.helm.TemplateCommand;
import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.GpuQuota;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.output.YamlWriter;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Partita's chart, installed in a cluster.
 *
 * @param kubeconfig of the cluster
 * @param namespace of the release
 */
public record PartitaRelease(Path kubeconfig, String namespace) {
  static final String NAME = "partita";

  /** Of a namespace that was made for the release. */
  private static final String MADE = Driver.NAME + "/made-by";

  /** One that the chart takes. */
  private static final String KUBERNETES = "1.36.0";

  /** Whether some Partita, by whomever, is installed in the cluster: a second one would fight with it. */
  public static boolean isInstalled(KubernetesClient client) {
    return client.apiextensions().v1().customResourceDefinitions().withName("gpunodes." + Driver.API_GROUP).get()
        != null;
  }

  /** Makes the release's namespace unless it is there, and marks it: {@link #remove} removes no other. */
  public void makeNamespace(KubernetesClient client) {
    if (client.namespaces().withName(namespace).get() == null) {
      client.resource(new NamespaceBuilder().withNewMetadata().withName(namespace).addToLabels(MADE, "cluster-up")
          .endMetadata().build()).create();
    }
  }

  /** What else is in a namespace that was there before is somebody's. */
  void removeNamespace(KubernetesClient client) {
    @Nullable Namespace there = client.namespaces().withName(namespace).get();
    if (there != null && there.getMetadata().getLabels() != null
        && there.getMetadata().getLabels().containsKey(MADE)) {
      client.resource(there).delete();
    }
  }

  /**
   * @param chart folder of the chart
   * @param own chart values in the chart's own form, maps in maps; of a path a string would become a number, such as
   *        the tag 2026
   * @param values further ones by their paths, such as {@code simulation.gpus}
   */
  public void install(Path chart, Map<String, Object> own, Map<String, Object> values) {
    InstallCommand install = new Helm(chart).install().withName(NAME).withNamespace(namespace).createNamespace()
        .withKubeConfig(kubeconfig);
    values.forEach(install::set);
    try {
      withFile(own, file -> install.withValuesFile(file).call());
    } catch (IllegalStateException refused) {
      throw CommandFailure.failed("the chart cannot be installed: " + oneLine(refused));
    }
  }

  /**
   * Refuses, without a cluster, values that {@link #install} would fail with.
   *
   * @throws CommandFailure if the chart does not take them
   */
  public static void check(Path chart, Map<String, Object> own, Map<String, Object> values) {
    TemplateCommand template = new Helm(chart).template().withName(NAME).withKubeVersion(KUBERNETES);
    values.forEach(template::set);
    try {
      withFile(own, file -> template.withValuesFile(file).call());
    } catch (IllegalStateException refused) {
      throw CommandFailure.usage("the chart does not take these values: " + oneLine(refused));
    }
  }

  private static void withFile(Map<String, Object> values, Consumer<Path> use) {
    try {
      Path file = Files.createTempFile("partita-", ".yaml");
      try {
        use.accept(Files.writeString(file, YamlWriter.write(values)));
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException noFile) {
      throw CommandFailure.failed("the chart's values cannot be written: " + FileProblem.why(noFile));
    }
  }

  /**
   * Uninstalls the chart, which removes what the controllers made, and removes its custom resources and the namespace
   * that was made for it.
   */
  public void remove(KubernetesClient client) {
    try {
      Helm.uninstall(NAME).withNamespace(namespace).withKubeConfig(kubeconfig).ignoreNotFound().call();
    } catch (IllegalStateException refused) {
      throw CommandFailure.failed("the chart cannot be uninstalled: " + oneLine(refused) + hookSaid(client));
    }
    removeNamespace(client);
    client.resources(GpuNode.class).delete();
    client.resources(GpuQuota.class).delete();
    for (String resource : List.of("gpunodes", "gpuquotas")) {
      client.apiextensions().v1().customResourceDefinitions().withName(resource + "." + Driver.API_GROUP).delete();
    }
  }

  /** What the hook that runs before says, which Helm does not tell. */
  private String hookSaid(KubernetesClient client) {
    try {
      return "\n" + client.batch().v1().jobs().inNamespace(namespace).withName(NAME + "-uninstall").getLog().strip();
    } catch (KubernetesClientException nothing) {
      return "";
    }
  }

  private static String oneLine(RuntimeException failure) {
    return Objects.requireNonNullElse(failure.getMessage(), failure.toString()).strip().replaceAll("\\s*\\n\\s*", "; ");
  }
}
