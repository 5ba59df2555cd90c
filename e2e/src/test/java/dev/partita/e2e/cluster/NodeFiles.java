package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The folders of a node that Partita writes to, and the processes that run there, seen from a pod there. */
public final class NodeFiles implements AutoCloseable {
  private static final String NAMESPACE = "partita-e2e-files";

  private final KubernetesClient client;
  private final Map<String, PodResource> pods = new ConcurrentHashMap<>();

  NodeFiles(KubernetesClient client) {
    this.client = client;
    client.resource(new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build()).create();
  }

  /**
   * Every trace that a claim has left on a node: files that carry its UID in their path or, in the driver's state, in
   * their content; a line each, empty if there is none.
   */
  public String tracesOf(String claimUid, String node) {
    return shell(
        node,
        """
            find /var/run/cdi /var/lib/partita /run/partita -path '*%1$s*'
            find /var/run/cdi /var/lib/partita -path /var/lib/partita/simulator -prune -o -type f -exec grep -l '%1$s' {} +
            """
            .formatted(claimUid));
  }

  /**
   * Runs a shell script that sees the node's /var/run/cdi, /var/lib/partita, /run/partita, /opt/partita and
   * /etc/partita; gives its stdout.
   */
  public String shell(String node, String script) {
    return Execution.run(pods.computeIfAbsent(node, this::start), "main", script).strip();
  }

  /**
   * Sets a key of the node's simulated driver ({@code node.conf}), in the place of any line that it has.
   *
   * @param behind the line behind which it is to stand, as sed matches it
   */
  public void setSimulated(String node, String key, String value, String behind) {
    shell(
        node,
        """
            set -e
            conf=$(find /var/lib/partita/simulator -path '*/etc/partita-simulator/node.conf')
            grep -v '^ *%1$s ' "$conf" | sed 's/^%3$s$/&\\n%1$s %2$s/' > "$conf.new"
            mv "$conf.new" "$conf"
            """
            .formatted(key, value, behind));
  }

  /** Runs {@code partita-sim-driver}, such as {@code xid --gpu 0 --xid 95}, on the node's simulated driver. */
  public void simulate(String node, String command) {
    String said = shell(
        node,
        """
            conf=$(find /var/lib/partita/simulator -path '*/etc/partita-simulator/node.conf')
            /simulator/partita-sim-driver %s --root "${conf%%/etc/*}" 2>&1 || echo failed
            """
            .formatted(command));
    if (said.endsWith("failed")) {
      throw new IllegalStateException("partita-sim-driver " + command + " on " + node + ": " + said);
    }
  }

  /** Sends a signal, such as KILL, to the processes of a pod on that node. */
  public void signal(String node, String podUid, String signal) {
    String pids = shell(node, signalling(podUid, signal));
    if (pids.isEmpty()) {
      throw new IllegalStateException("no process of pod " + podUid + " is to be seen on " + node);
    }
  }

  /** A script that sends it, and says to which processes. */
  public static String signalling(String podUid, String signal) {
    return """
        for cgroup in $(grep -l -e 'pod%s' -e 'pod%s' /proc/[0-9]*/cgroup); do
          process=${cgroup%%/cgroup}
          [ "$(cat $process/comm)" = pause ] || { kill -%s ${process#/proc/} && echo ${process#/proc/}; }
        done
        """
        .formatted(podUid, podUid.replace('-', '_'), signal); // the second is systemd's way to name it
  }

  private PodResource start(String node) {
    await("a service account").atMost(Workspace.PATIENCE)
        .until(() -> client.serviceAccounts().inNamespace(NAMESPACE).withName("default").get() != null);
    String yaml =
        """
            apiVersion: v1
            kind: Pod
            metadata: {name: "%s"}
            spec:
              nodeName: "%s"
              hostPID: true
              terminationGracePeriodSeconds: 0
              tolerations: [{operator: Exists}]
              initContainers:
              - name: simulator
                image: %s
                imagePullPolicy: IfNotPresent
                command: [cp, /usr/lib/partita/bin/partita-sim-driver, /simulator/]
                volumeMounts:
                - {name: simulator, mountPath: /simulator}
              containers:
              - name: main
                image: %s
                imagePullPolicy: IfNotPresent
                command: [sleep, infinity]
                securityContext: {runAsUser: 0}
                volumeMounts:
                - {name: simulator, mountPath: /simulator}
                - {name: cdi, mountPath: /var/run/cdi}
                - {name: state, mountPath: /var/lib/partita}
                - {name: run, mountPath: /run/partita}
                - {name: opt, mountPath: /opt/partita}
                - {name: etc, mountPath: /etc/partita}
              volumes:
              - {name: simulator, emptyDir: {}}
              - {name: cdi, hostPath: {path: /var/run/cdi}}
              - {name: state, hostPath: {path: /var/lib/partita}}
              - {name: run, hostPath: {path: /run/partita}}
              - {name: opt, hostPath: {path: /opt/partita}}
              - {name: etc, hostPath: {path: /etc/partita}}
            """
            .formatted(node, node, RealCluster.SIMULATOR_IMAGE, RealCluster.PROBE_IMAGE);
    client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).inNamespace(NAMESPACE).create();
    PodResource pod = client.pods().inNamespace(NAMESPACE).withName(node);
    await("a pod that sees the files of " + node).atMost(Workspace.PATIENCE)
        .until(() -> "Running".equals(pod.get().getStatus().getPhase()));
    return pod;
  }

  @Override
  public void close() {
    client.namespaces().withName(NAMESPACE).delete();
  }
}
