package dev.partita.cli.doctor;

import dev.partita.api.node.GpuNode;
import dev.partita.cli.doctor.AccountChecks.AccountRight;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the API server said.
 *
 * @param cluster of itself
 * @param installation of Partita
 * @param nodes of the nodes
 * @param rights whether the user has each right that the commands need
 */
record Snapshot(Cluster cluster, Installation installation, Nodes nodes, Reading<Map<Right, Boolean>> rights) {

  /**
   * What it said of itself.
   *
   * @param version its own, as {@code v1.36.2}
   * @param resources what it serves of resource.k8s.io/v1
   * @param gates feature gates and whether they are on, of its own process
   * @param time its clock
   * @param skew how far this machine's clock is ahead of its clock
   */
  record Cluster(
      Reading<String> version,
      Reading<Set<String>> resources,
      Reading<Map<String, Boolean>> gates,
      Instant time,
      Reading<Duration> skew) {}

  /**
   * What it said of Partita.
   *
   * @param namespace where it is looked for
   * @param controller its Deployment
   * @param lease which controller leads
   * @param webhooks the webhooks that validate
   * @param mutating those that change pods
   * @param policies names of ValidatingAdmissionPolicies that have a binding
   * @param classes names of DeviceClasses
   * @param accounts whether its ServiceAccounts have each right of {@link AccountChecks#NEEDED}
   */
  record Installation(
      String namespace,
      Reading<Deployment> controller,
      Reading<Lease> lease,
      Reading<ValidatingWebhookConfiguration> webhooks,
      Reading<MutatingWebhookConfiguration> mutating,
      Reading<Set<String>> policies,
      Reading<Set<String>> classes,
      Reading<Map<AccountRight, Boolean>> accounts) {}

  /**
   * What it said of the nodes.
   *
   * @param nodes all of them
   * @param gpuNodes those that report cards
   * @param plugins pods of the node plugin
   * @param slices those of our driver
   * @param leases of kubelets, by node
   */
  record Nodes(
      Reading<List<Node>> nodes,
      Reading<List<GpuNode>> gpuNodes,
      Reading<List<Pod>> plugins,
      Reading<List<ResourceSlice>> slices,
      Reading<Map<String, Lease>> leases) {}
}
