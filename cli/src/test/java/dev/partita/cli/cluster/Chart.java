package dev.partita.cli.cluster;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.InstallCommand;
import com.marcnuri.helm.TemplateCommand;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/** Partita's chart, and what it makes of values. */
final class Chart {
  private static final KubernetesSerialization YAML = new KubernetesSerialization();
  static final Helm FOLDER = new Helm(Path.of("../deploy/helm/partita"));

  private Chart() {}

  static boolean privileged(Map<String, Object> values) {
    return Boolean.TRUE.equals(plugin(values).getContainers().getFirst().getSecurityContext().getPrivileged());
  }

  static Map<String, String> environment(PodSpec pod) {
    Container container = pod.getContainers().getFirst();
    return container.getEnv().stream()
        .filter(variable -> variable.getValue() != null)
        .collect(java.util.stream.Collectors.toMap(v -> v.getName(), v -> v.getValue()));
  }

  static PodSpec controller(Map<String, Object> values) {
    return rendered(values).filter(Deployment.class::isInstance).map(Deployment.class::cast).findFirst().orElseThrow()
        .getSpec().getTemplate().getSpec();
  }

  static MutatingWebhookConfiguration mutating(Map<String, Object> values) {
    return rendered(values).filter(MutatingWebhookConfiguration.class::isInstance)
        .map(MutatingWebhookConfiguration.class::cast).findFirst().orElseThrow();
  }

  static ValidatingWebhookConfiguration validating(Map<String, Object> values) {
    return rendered(values).filter(ValidatingWebhookConfiguration.class::isInstance)
        .map(ValidatingWebhookConfiguration.class::cast).findFirst().orElseThrow();
  }

  static PodSpec plugin(Map<String, Object> values) {
    return rendered(values).filter(DaemonSet.class::isInstance).map(DaemonSet.class::cast).findFirst().orElseThrow()
        .getSpec().getTemplate().getSpec();
  }

  static Stream<ClusterRole> roles() {
    return rendered(Map.of()).filter(ClusterRole.class::isInstance).map(ClusterRole.class::cast);
  }

  static Stream<HasMetadata> rendered(Map<String, Object> values) {
    return objects(text(values));
  }

  /**
   * The same with the objects that Helm makes for a hook: it renders them, and keeps them out of what it shows. They
   * are told by the annotation {@code shown/hook}.
   *
   * @param folder an empty one, for a chart without hooks
   */
  static Stream<HasMetadata> renderedWithHooks(Path folder, Map<String, Object> values) throws IOException {
    Path chart = Path.of("../deploy/helm/partita");
    try (Stream<Path> files = Files.walk(chart)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path copy = folder.resolve(chart.relativize(file));
        Files.createDirectories(copy.getParent());
        Files.writeString(copy, Files.readString(file).replace("helm.sh/hook", "shown/hook"));
      }
    }
    return objects(text(new Helm(folder), "partita", "partita-system", values));
  }

  private static Stream<HasMetadata> objects(String text) {
    return Stream.of(text.split("(?m)^---$"))
        .filter(document -> document.contains("kind:"))
        .map(document -> (HasMetadata) YAML.unmarshal(document));
  }

  /** What Helm tells whoever has installed it. */
  static String notes(Map<String, Object> values) {
    InstallCommand install = FOLDER.install().withName("partita").withNamespace("partita-system").clientOnly()
        .dryRun().withKubeVersion("1.36.3").skipCrds();
    values.forEach(install::set);
    String output = install.call().getOutput();
    return output.substring(output.indexOf("NOTES:"));
  }

  static String text(Map<String, Object> values) {
    return text("partita", "partita-system", values);
  }

  static String text(String release, String namespace, Map<String, Object> values) {
    return text(FOLDER, release, namespace, values);
  }

  private static String text(Helm chart, String release, String namespace, Map<String, Object> values) {
    TemplateCommand template =
        chart.template().withName(release).withNamespace(namespace).withKubeVersion("1.36.3").skipCrds();
    values.forEach(template::set);
    return template.call();
  }
}
