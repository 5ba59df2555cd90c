package dev.partita.e2e.outside;

import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * KAI's scheduler, binder and pod grouper on a lab, without its operator, its webhooks and what counts for its
 * statuses; closing it takes away all of it.
 */
final class Kai implements AutoCloseable {
  private static final String NAMESPACE = "kai-scheduler";
  private static final String SECTION = "## KAI";

  /** Programs, with the service accounts that its chart gives rights to. */
  private static final Map<String, String> PROGRAMS =
      Map.of("scheduler", "scheduler", "binder", "binder", "podgrouper", "pod-grouper");

  private static final String NAMESPACES = """
      {apiVersion: v1, kind: Namespace, metadata: {name: %s}}
      ---
      {apiVersion: v1, kind: Namespace, metadata: {name: kai-resource-reservation}}
      """.formatted(NAMESPACE);

  private final RealCluster cluster;
  private final Workspace workspace;
  private final Installation installation;
  private final PageObjects page;
  private final PagePods pods;

  private Kai(RealCluster cluster, Workspace workspace) {
    this.cluster = cluster;
    this.workspace = workspace;
    this.installation = new Installation(cluster);
    this.page = PageObjects.of(cluster.home().resolve("docs/how-to/use-other-schedulers.md"), SECTION);
    this.pods = new PagePods(cluster, workspace, page);
  }

  /** Installs it, and makes the page's queues and template. */
  static Kai install(RealCluster cluster, Workspace workspace, Path folder) {
    Path fetched = Installation.fetched(cluster, "kai", "scheduler");
    Kai kai = new Kai(cluster, workspace);
    try {
      kai.install(fetched, folder);
      return kai;
    } catch (IOException failure) {
      kai.close();
      throw new UncheckedIOException(failure);
    } catch (RuntimeException failure) {
      kai.close();
      throw failure;
    }
  }

  private void install(Path fetched, Path folder) throws IOException {
    Path chart = fetched.resolve("kai-scheduler");
    apply(NAMESPACES);
    try (Stream<Path> crds = Files.list(chart.resolve("crds"))) {
      for (Path crd : crds.sorted().toList()) {
        apply(Files.readString(crd));
      }
    }
    try (Stream<Path> priorities = Files.list(chart.resolve("templates/priorityclasses"))) {
      for (Path priority : priorities.sorted().toList()) {
        apply(Files.readString(priority));
      }
    }
    for (Map.Entry<String, String> program : PROGRAMS.entrySet()) {
      run(program.getKey(), program.getValue(), fetched, folder);
    }
    for (String kind : List.of("ClusterRole", "ClusterRoleBinding", "Queue")) {
      page.objects(cluster.client(), kind).forEach(installation::apply);
    }
    PROGRAMS.keySet().forEach(program -> installation.awaitReady(NAMESPACE, program));
    pods.applyTemplate(installation);
  }

  private void run(String program, String account, Path fetched, Path folder) throws IOException {
    for (String template : List.of("", "-binding")) {
      apply(Files.readString(fetched.resolve("kai-scheduler/templates/rbac/" + program + template + ".yaml"))
          .replace("{{ .Release.Namespace }}", NAMESPACE));
    }
    String image = "localhost/partita-e2e/kai-" + program + ":1";
    installation.image(image, folder.resolve(program + ".tar"), fetched.resolve(program), "/" + program);
    String manifest = """
        {apiVersion: v1, kind: ServiceAccount, metadata: {name: %3$s, namespace: %2$s}}
        ---
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: %1$s, namespace: %2$s}
        spec:
          selector: {matchLabels: {app: %1$s}}
          template:
            metadata: {labels: {app: %1$s}}
            spec:
              serviceAccountName: %3$s
              containers:
                - name: %1$s
                  image: set below
                  command: [/%1$s]
                  env: [{name: NAMESPACE, value: %2$s}]
        """.formatted(program, NAMESPACE, account);
    for (HasMetadata object : PageObjects.read(cluster.client(), manifest)) {
      if (object instanceof Deployment deployment) {
        Installation.run(deployment, image);
      }
      installation.apply(object);
    }
  }

  private void apply(String manifests) {
    PageObjects.read(cluster.client(), manifests).forEach(installation::apply);
  }

  /**
   * Makes the page's pod, on one node and with another name.
   *
   * @param template of its claim
   */
  PodUnderTest pod(String name, String node, String template) {
    return pods.make(pods.podOf(name, node, template));
  }

  /** The page's pod, one of two that are a gang to Partita. */
  PodUnderTest podOfGang(String name, String node, String template) {
    return pods.make(pods.podOfGang(name, node, template));
  }

  /** The page's gang, of so many pods on one node. */
  List<PodUnderTest> gang(int size, String node, String template) {
    HasMetadata group = page.object(cluster.client(), "PodGroup");
    group.getMetadata().setNamespace(workspace.namespace());
    installation.apply(group);
    return PagePods.times(size, i -> pods.make(PagePods.placed((Pod) page.objects(cluster.client(), "Pod").getLast(),
        group.getMetadata().getName() + "-" + i, node, template)));
  }

  @Override
  public void close() {
    installation.close();
  }
}
