package dev.partita.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.NodeSetup;
import dev.partita.api.node.OtherDriverDevice;
import dev.partita.cli.doctor.AccountChecks.AccountRight;
import dev.partita.controller.fleet.PaperFleet;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
  private static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");
  private static final Set<String> SERVED =
      Set.of("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices");
  private static final Map<Right, Boolean> ALL_RIGHTS =
      RightChecks.NEEDED.keySet().stream().collect(Collectors.toMap(right -> right, right -> true));
  private static final Map<AccountRight, Boolean> ALL_ACCOUNT_RIGHTS =
      AccountChecks.NEEDED.stream().collect(Collectors.toMap(right -> right, right -> true));

  private static <T> Reading<T> known(T value) {
    return new Reading.Known<>(value);
  }

  private static Snapshot.Cluster cluster(String version, Set<String> served, Map<String, Boolean> gates, long skew) {
    return new Snapshot.Cluster(known(version), known(served), known(gates), NOW, known(Duration.ofSeconds(skew)));
  }

  private static Lease lease(String holder, Duration age) {
    return new LeaseBuilder().withNewMetadata().withName(holder).endMetadata().withNewSpec().withHolderIdentity(holder)
        .withLeaseDurationSeconds(15).withRenewTime(NOW.minus(age).atZone(ZoneOffset.UTC)).endSpec().build();
  }

  private static Deployment controller(int replicas, int ready) {
    return new DeploymentBuilder().withNewMetadata().withNamespace("partita-system").withName("c").endMetadata()
        .withNewSpec().withReplicas(replicas).endSpec().withNewStatus().withReadyReplicas(ready).endStatus().build();
  }

  private static ValidatingWebhookConfiguration webhooks(String caBundle) {
    return new ValidatingWebhookConfigurationBuilder().addNewWebhook().withName("claims.gpu.partita.dev")
        .withNewClientConfig().withCaBundle(caBundle).endClientConfig().endWebhook().build();
  }

  private static Snapshot.Installation installation(
      Reading<Deployment> controller,
      Lease lease,
      Reading<ValidatingWebhookConfiguration> webhooks) {
    return installation(controller, lease, webhooks, known(new MutatingWebhookConfiguration()));
  }

  private static Snapshot.Installation installation(
      Reading<Deployment> controller,
      Lease lease,
      Reading<ValidatingWebhookConfiguration> webhooks,
      Reading<MutatingWebhookConfiguration> mutating) {
    return new Snapshot.Installation("partita-system", controller, known(lease), webhooks, mutating,
        known(InstallationChecks.POLICIES), known(Set.of(Driver.SHARE_CLASS, Driver.WHOLE_CLASS)),
        known(ALL_ACCOUNT_RIGHTS));
  }

  private static Snapshot.Installation installation() {
    return installation(known(controller(1, 1)), lease("c-0", Duration.ofSeconds(2)),
        new Reading.Missing<>("there is no webhook"));
  }

  private static Node node(String kubelet, String runtime) {
    return new NodeBuilder().withNewMetadata().withName("n").endMetadata().withNewStatus().withNewNodeInfo()
        .withKubeletVersion(kubelet).withContainerRuntimeVersion(runtime).endNodeInfo().endStatus().build();
  }

  private static Pod plugin(String ready) {
    return new PodBuilder().withNewMetadata().withNamespace("partita-system").withName("plugin-n").withUid("p")
        .endMetadata().withNewSpec().withNodeName("n").endSpec().withNewStatus().addNewCondition().withType("Ready")
        .withStatus(ready).endCondition().endStatus().build();
  }

  private static ResourceSlice slice() {
    return new ResourceSliceBuilder().withNewSpec().withDriver(Driver.NAME).withNewPool().withName("n/gpu").endPool()
        .addNewDevice().withName("gpu-0").endDevice().endSpec().build();
  }

  private static Snapshot.Nodes nodes(Node node, GpuNode gpuNode, Pod plugin, List<ResourceSlice> slices, Lease lease) {
    return new Snapshot.Nodes(known(List.of(node)), known(List.of(gpuNode)), known(List.of(plugin)), known(slices),
        known(Map.of("n", lease)));
  }

  private static Snapshot.Nodes nodes() {
    return nodes(node("v1.36.2", "containerd://2.1.3"), PaperFleet.node("n", 1), plugin("True"), List.of(slice()),
        lease("n", Duration.ofSeconds(8)));
  }

  private static Snapshot.Cluster cluster() {
    return cluster("v1.36.2", SERVED, Map.of(), 0);
  }

  private static List<String> notWell(List<Finding> findings) {
    return findings.stream().filter(finding -> finding.verdict() != Verdict.OK)
        .map(finding -> finding.verdict() + " " + finding.check() + ": " + finding.message()).toList();
  }

  private static List<String> notWell(Snapshot.Cluster cluster) {
    return notWell(ClusterChecks.of(cluster));
  }

  private static List<String> notWell(Snapshot.Installation installation) {
    return notWell(InstallationChecks.of(installation, NOW)).stream()
        .filter(text -> !text.startsWith("warn webhooks: there are none")).toList();
  }

  private static List<String> notWell(Snapshot.Nodes nodes) {
    return notWell(NodeChecks.of(nodes, installation(), NOW));
  }

  @Test
  void aClusterThatHasAllIsWellAndSummedUp() {
    Diagnosis diagnosis = Diagnosis.of(new Snapshot(cluster(), installation(), nodes(), known(ALL_RIGHTS)));
    assertThat(diagnosis.count(Verdict.FAIL)).isZero();
    assertThat(DiagnosisText.of(diagnosis, false)).contains("ok    Kubernetes version: v1.36.2\n",
        "ok    node plugin (n): is ready\n", "ok    your rights: all that the commands need\n",
        "0 failed, 1 to look at");
  }

  @Test
  void whatIsNotWellHasAMend() {
    Reading<Deployment> none = new Reading.Missing<>("there is no Deployment partita-dra-controller");
    Diagnosis diagnosis =
        Diagnosis.of(
            new Snapshot(cluster("v1.35.9", Set.of(), Map.of("DRADeviceTaints", false), 90),
                installation(none, lease("", Duration.ZERO), known(webhooks(""))),
                nodes(node("v1.35.0", "containerd://1.7.2"), PaperFleet.node("n", 1), plugin("False"), List.of(),
                    lease("n", Duration.ofSeconds(-30))),
                new Reading.Failed<>("no answer")));
    assertThat(diagnosis.findings()).filteredOn(finding -> finding.verdict() != Verdict.OK)
        .hasSizeGreaterThan(10).allSatisfy(finding -> assertThat(finding.mend()).as("%s", finding).isNotBlank());
    assertThat(DiagnosisText.of(diagnosis, false))
        .contains("fail  controller: there is no Deployment partita-dra-controller\n      mend: install the chart");
  }

  @Test
  void anEvictedPodIsNotTakenForTheNodesPlugin() {
    Pod evicted = new PodBuilder(plugin("False")).editMetadata().withName("evicted").withUid("old")
        .withCreationTimestamp("2026-05-01T11:00:00Z").endMetadata().editStatus().withPhase("Failed").endStatus()
        .build();
    Pod runs = new PodBuilder(plugin("True")).editMetadata().withCreationTimestamp("2026-05-01T10:00:00Z").endMetadata()
        .editStatus().withPhase("Running").endStatus().build();
    Pod newer = new PodBuilder(plugin("False")).editMetadata().withName("newer").withUid("new")
        .withCreationTimestamp("2026-05-01T11:30:00Z").endMetadata().editStatus().withPhase("Pending").endStatus()
        .build();
    assertThat(notWell(withPlugins(evicted, runs))).isEmpty();
    assertThat(notWell(withPlugins(runs, evicted))).isEmpty();
    assertThat(notWell(withPlugins(evicted))).contains("fail node plugin: is not ready");
    assertThat(notWell(withPlugins(runs, newer))).contains("fail node plugin: is not ready");
  }

  /** As the DaemonSet controller makes it, and kube-scheduler leaves it. */
  private static Pod unscheduled() {
    return new PodBuilder().withNewMetadata().withNamespace("partita-system").withName("plugin-n").withUid("new")
        .endMetadata().withNewSpec().withNewAffinity().withNewNodeAffinity()
        .withNewRequiredDuringSchedulingIgnoredDuringExecution().addNewNodeSelectorTerm().addNewMatchField()
        .withKey("metadata.name").withOperator("In").withValues("n").endMatchField().endNodeSelectorTerm()
        .endRequiredDuringSchedulingIgnoredDuringExecution().endNodeAffinity().endAffinity().endSpec().withNewStatus()
        .withPhase("Pending").addNewCondition().withType("PodScheduled").withStatus("False")
        .withReason("Unschedulable").withMessage("0/1 nodes are available: 1 Insufficient cpu.").endCondition()
        .endStatus().build();
  }

  @Test
  void aPluginThatIsNotScheduledIsAFailureOfTheNodeThatItIsFor() {
    String says = "fail node plugin: is not scheduled: 0/1 nodes are available: 1 Insufficient cpu.";
    Snapshot.Nodes nodes = withPlugins(unscheduled());
    assertThat(notWell(nodes)).as("a node that had a plugin before").containsExactly(says);
    Snapshot.Nodes withoutCards =
        new Snapshot.Nodes(nodes.nodes(), known(List.of()), nodes.plugins(), known(List.of()), nodes.leases());
    assertThat(notWell(withoutCards)).as("a new node").containsExactly(says);
    assertThat(NodeChecks.of(withoutCards, installation(), NOW)).first().satisfies(finding -> {
      assertThat(finding.subject()).isEqualTo("n");
      assertThat(finding.mend()).endsWith("kubectl describe pod -n partita-system plugin-n");
    });
    Pod evicted = new PodBuilder(plugin("False")).editMetadata().withName("evicted").withUid("old").endMetadata()
        .editStatus().withPhase("Failed").endStatus().build();
    assertThat(notWell(withPlugins(evicted, unscheduled()))).contains(says);
  }

  @Test
  void aPluginThatRunsIsNotHiddenByTheOneThatIsToTakeItsPlace() {
    Pod runs = new PodBuilder(plugin("True")).editMetadata().withCreationTimestamp("2026-05-01T10:00:00Z").endMetadata()
        .editStatus().withPhase("Running").endStatus().build();
    Pod waits = new PodBuilder(unscheduled()).editMetadata().withCreationTimestamp("2026-05-01T11:00:00Z").endMetadata()
        .build();
    assertThat(notWell(withPlugins(runs, waits))).isEmpty();
    assertThat(notWell(withPlugins(waits, runs))).isEmpty();
  }

  @Test
  void aGpuNodeIsToBeDeletedOnlyWherePartitaIsInTheNamespaceThatWasLookedAt() {
    Pod elsewhere =
        new PodBuilder(plugin("True")).editMetadata().withName("plugin-m").endMetadata().editSpec().withNodeName("m")
            .endSpec().build();
    Snapshot.Installation none =
        installation(new Reading.Missing<>("there is no Deployment"), lease("c-0", Duration.ofSeconds(2)),
            new Reading.Missing<>("none"));
    String delete = "if it is to have none: kubectl delete gpunode n";
    assertThat(NodeChecks.of(withPlugins(), installation(), NOW)).extracting(Finding::mend).contains(delete);
    assertThat(NodeChecks.of(withPlugins(elsewhere), none, NOW)).extracting(Finding::mend).contains(delete);
    List<Finding> findings = NodeChecks.of(withPlugins(), none, NOW);
    assertThat(notWell(findings)).containsExactly("fail node plugin: none runs in namespace partita-system");
    assertThat(findings).extracting(Finding::mend)
        .contains("name Partita's namespace with --partita-namespace, or install the chart").doesNotContain(delete);
  }

  @Test
  void aFleetWithoutAnyPluginFails() {
    assertThat(notWell(withPlugins())).containsExactly("fail node plugin: runs on no node",
        "warn node plugin: no plugin runs there any more, but its GpuNode is there");
  }

  private static Snapshot.Nodes withPlugins(Pod... plugins) {
    Snapshot.Nodes nodes = nodes();
    return new Snapshot.Nodes(nodes.nodes(), nodes.gpuNodes(), known(List.of(plugins)), nodes.slices(),
        nodes.leases());
  }

  @Test
  void kubernetesMustBeNewEnoughAndServeClaims() {
    assertThat(notWell(cluster())).isEmpty();
    assertThat(notWell(cluster("v1.35.4", SERVED, Map.of(), 0)))
        .containsExactly("fail Kubernetes version: v1.35.4 is too old");
    assertThat(notWell(cluster("v2.0.0", SERVED, Map.of(), 0))).isEmpty();
    assertThat(notWell(cluster("v1.36.0", Set.of("resourceclaims"), Map.of(), 0))).singleElement().asString()
        .contains("has no deviceclasses, resourceclaimtemplates, resourceslices");
    assertThat(notWell(cluster("v1.36.0", SERVED, SnapshotReader.gates("""
        # HELP kubernetes_feature_enabled
        kubernetes_feature_enabled{name="DRAConsumableCapacity",stage="BETA"} 0
        kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 1
        """), 0))).containsExactly("fail feature gates: off: DRAConsumableCapacity");
    assertThat(notWell(cluster("v1.36.0", SERVED, Map.of(), -90)))
        .containsExactly("warn clock of this machine: 90 s behind the API server's");
  }

  @Test
  void aControllerMustRunAndLead() {
    assertThat(notWell(installation())).isEmpty();
    Reading<ValidatingWebhookConfiguration> none = new Reading.Missing<>("none");
    Lease fresh = lease("c-0", Duration.ofSeconds(2));
    assertThat(notWell(installation(known(controller(2, 0)), fresh, none)))
        .containsExactly("fail controller: 0 of 2 are ready");
    assertThat(notWell(installation(known(controller(2, 1)), fresh, none)))
        .containsExactly("warn controller: 1 of 2 are ready");
    assertThat(notWell(installation(known(controller(1, 1)), lease("c-0", Duration.ofSeconds(40)), none)))
        .containsExactly("fail controller that leads: c-0 has not renewed its lease for 40 s");
    assertThat(notWell(installation(known(controller(1, 1)), lease("", Duration.ZERO), none)))
        .containsExactly("fail controller that leads: none leads: nothing is allocated");
    assertThat(notWell(installation(known(controller(1, 1)), fresh, known(webhooks("bm9uZQ==")))))
        .containsExactly("fail webhooks: no certificate is trusted for claims.gpu.partita.dev");
  }

  @Test
  void theWebhookThatChangesPodsIsLookedAtAsThoseThatValidateAre() {
    Reading<Deployment> controller = known(controller(1, 1));
    Lease fresh = lease("c-0", Duration.ofSeconds(2));
    MutatingWebhookConfiguration without =
        new MutatingWebhookConfigurationBuilder().addNewWebhook().withName("pods.gpu.partita.dev")
            .withNewClientConfig().endClientConfig().endWebhook().build();
    assertThat(notWell(installation(controller, fresh, known(webhooks("")), known(without)))).containsExactly(
        "fail webhooks: no certificate is trusted for claims.gpu.partita.dev, pods.gpu.partita.dev");
    assertThat(notWell(installation(controller, fresh, known(webhooks("")), new Reading.Missing<>("none"))))
        .containsExactly("fail webhooks: no certificate is trusted for claims.gpu.partita.dev",
            "warn webhooks: none changes pods: those that ask in other systems' ways are not converted");
    assertThat(notWell(installation(controller, fresh, known(webhooks("")), new Reading.Forbidden<>("you may not"))))
        .contains("warn webhooks: could not be looked at: you may not");
    assertThat(InstallationChecks.of(installation(controller, fresh, new Reading.Missing<>("none"),
        new Reading.Missing<>("none")), NOW)).filteredOn(finding -> finding.check().equals("webhooks")).hasSize(1);
  }

  @Test
  void policiesAndClassesThatAreMissingAreNamed() {
    Snapshot.Installation bare =
        new Snapshot.Installation("partita-system", known(controller(1, 1)), known(lease("c", Duration.ZERO)),
            new Reading.Missing<>("none"), new Reading.Missing<>("none"), known(Set.of()), known(Set.of("other")),
            known(ALL_ACCOUNT_RIGHTS));
    assertThat(notWell(bare)).anySatisfy(text -> assertThat(text).contains("partita-allocations"))
        .contains("fail DeviceClasses: missing: gpu.partita.dev, whole.gpu.partita.dev");
  }

  @Test
  void aServiceAccountThatHasLostARightIsNamedWithIt() {
    assertThat(notWell(AccountChecks.of(known(ALL_ACCOUNT_RIGHTS)))).isEmpty();
    Map<AccountRight, Boolean> few =
        AccountChecks.NEEDED.stream()
            .collect(Collectors.toMap(held -> held, held -> !held.right().resource().startsWith("resourceclaims/")));
    assertThat(notWell(AccountChecks.of(known(few)))).containsExactly(
        "fail rights of Partita: ServiceAccount partita-dra-controller may not"
            + " update resourceclaims/binding.resource.k8s.io, update resourceclaims/status.resource.k8s.io",
        "fail rights of Partita: ServiceAccount partita-kubelet-plugin may not"
            + " associated-node:patch resourceclaims/driver.resource.k8s.io,"
            + " patch resourceclaims/status.resource.k8s.io");
    assertThat(notWell(AccountChecks.of(new Reading.Forbidden<>("you may not"))))
        .containsExactly("warn rights of Partita: could not be looked at: you may not");
  }

  private static GpuNode notReady(String reason, String message) {
    GpuNode node = PaperFleet.node("n", 0);
    node.setStatus(node.getStatus().withConditions(List.of(new ConditionBuilder().withType(GpuNode.READY)
        .withStatus("False").withReason(reason).withMessage(message).build())));
    return node;
  }

  @Test
  void eachNodeMustHaveItsPluginItsCardsAndItsSlices() {
    assertThat(notWell(nodes())).isEmpty();
    Node well = node("v1.36.2", "cri-o://1.33.0");
    Lease fresh = lease("n", Duration.ofSeconds(8));
    assertThat(notWell(nodes(well, PaperFleet.node("n", 1), plugin("False"), List.of(), fresh)))
        .containsExactly("fail node plugin: is not ready", "fail published cards: none of its cards are published");
    assertThat(notWell(nodes(well, notReady("NoDriver", "no libcuda"), plugin("True"), List.of(), fresh)))
        .containsExactly("fail cards: NoDriver: no libcuda");
    assertThat(notWell(nodes(well, notReady("NoGpus", "no card"), plugin("True"), List.of(), fresh)))
        .as("a node without cards is as it should be").isEmpty();
    GpuNode ill = PaperFleet.node("n", GpuNodeSpec.DEFAULT,
        List.of(PaperFleet.card("n", 0).withHealth(GpuHealth.unhealthy("XID 79", "fell off"))));
    assertThat(notWell(nodes(well, ill, plugin("True"), List.of(slice()), fresh)))
        .containsExactly("warn health of cards: XID 79: fell off");
    assertThat(notWell(nodes(node("v1.35.1", "containerd://1.7.2"), PaperFleet.node("n", 1), plugin("True"),
        List.of(slice()), fresh)))
        .containsExactly("fail kubelet version: v1.35.1 is too old",
            "fail container runtime: containerd://1.7.2 is too old");
    assertThat(notWell(nodes(well, PaperFleet.node("n", 1), plugin("True"), List.of(slice()),
        lease("n", Duration.ofSeconds(-30)))))
        .containsExactly("fail clock of the node: 30 s ahead of the API server's");
  }

  @Test
  void aCardThatSomebodyElseHandsOutIsAWarningThatNamesWho() {
    GpuNode node = PaperFleet.node("n", GpuNodeSpec.DEFAULT,
        List.of(PaperFleet.card("n", 0).withServedBy(List.of(new OtherServer("nvidia.com/gpu", true, 2))),
            PaperFleet.card("n", 1)));
    node.setStatus(node.getStatus()
        .withOtherDrivers(List.of(new OtherDriverDevice("GPU-n-1", "gpu.nvidia.com", "n", "gpu-7", 1))));
    assertThat(notWell(nodes(node("v1.36.2", "containerd://2.1.3"), node, plugin("True"), List.of(),
        lease("n", Duration.ofSeconds(8)))))
        .containsExactly(
            "warn cards served by one: is handed out as nvidia.com/gpu, which 2 pods have, by another device plugin too",
            "warn cards served by one: is handed out by the DRA driver gpu.nvidia.com, as gpu-7, which a claim has");
  }

  @Test
  void eachNodeIsSaidToHaveItsDriverCgroupsAndCdi() {
    assertThat(texts(setup(2, "/var/run/cdi", null, true), "containerd://2.1.3")).contains(
        "ok driver: 580.95.05, for CUDA up to 13.0", "ok cgroups: version 2",
        "ok CDI: containers get what the specs in /var/run/cdi say");
    assertThat(texts(setup(null, "/var/run/cdi", "there is no such folder", false), "containerd://2.1.3"))
        .contains("warn cgroups: the plugin's container shows neither version",
            "fail CDI: no spec can be written into /var/run/cdi: there is no such folder");
    assertThat(texts(setup(1, "/var/run/cdi", null, false), "cri-o://1.33.0"))
        .anySatisfy(text -> assertThat(text).startsWith("warn cgroups: version 1, with which kubelet only starts"))
        .contains("ok CDI: on by default with this runtime, and no container has shown it yet");
    assertThat(texts(setup(2, "/opt/cdi", null, false), "containerd://2.1.3"))
        .anySatisfy(text -> assertThat(text).startsWith("warn CDI: specs are in /opt/cdi, which a runtime only reads"));
    assertThat(texts(setup(2, "/opt/cdi", null, true), "containerd://2.1.3"))
        .contains("ok CDI: containers get what the specs in /opt/cdi say");
  }

  @Test
  void aRuntimeThatHasCdiOffUnlessToldOtherwiseIsBelievedOnceAContainerHasShownIt() {
    for (String runtime : List.of("containerd://1.7.2", "docker://28.1.0")) {
      assertThat(texts(setup(2, "/etc/cdi", null, false), runtime))
          .contains("warn CDI: whether " + runtime + " has it on has not been seen yet");
      assertThat(texts(setup(2, "/etc/cdi", null, true), runtime))
          .contains("ok CDI: containers get what the specs in /etc/cdi say");
    }
    assertThat(texts(setup(2, "/etc/cdi", null, false), ""))
        .contains("warn CDI: whether the runtime has it on has not been seen yet");
  }

  @Test
  void theHookMustNotLieOnAMountFromWhichNothingCanBeStarted() {
    assertThat(texts(hook("/opt/partita", null), "containerd://2.1.3"))
        .contains("ok CDI hook: /opt/partita is not mounted noexec");
    assertThat(texts(hook("/opt/partita", "/opt is mounted noexec"), "containerd://2.1.3"))
        .contains("fail CDI hook: the runtime cannot start it from /opt/partita, so no container with a GPU starts:"
            + " /opt is mounted noexec");
    assertThat(texts(hook(null, null), "containerd://2.1.3"))
        .contains("warn CDI hook: the plugin cannot say whether the runtime can start it");
    GpuNode node = PaperFleet.node("n", 1);
    node.setStatus(node.getStatus().withSetup(hook("/opt/partita", "/opt is mounted noexec")));
    assertThat(DiagnosisText.of(Diagnosis.of(new Snapshot(cluster(), installation(), nodes(node("v1.36.2",
        "containerd://2.1.3"), node, plugin("True"), List.of(slice()), lease("n", Duration.ofSeconds(8))),
        known(ALL_RIGHTS))), false)).contains("fail  CDI hook (n): ", "\n      mend: mount it with exec on the node");
  }

  private static NodeSetup hook(@Nullable String folder, @Nullable String problem) {
    return new NodeSetup(2, "/var/run/cdi", null, true, folder, problem, true);
  }

  private static NodeSetup setup(
      @Nullable Integer cgroups,
      String cdi,
      @Nullable String cdiProblem,
      boolean cdiApplied) {
    return new NodeSetup(cgroups, cdi, cdiProblem, cdiApplied, "/opt/partita", null, true);
  }

  @Test
  void aPluginThatDoesNotSayHowItsNodeIsSetUpIsToldAsSuch() {
    GpuNode ofEarlierPlugin = PaperFleet.node("n", 1);
    ofEarlierPlugin.setStatus(ofEarlierPlugin.getStatus().withSetup(null));
    assertThat(notWell(nodes(node("v1.36.2", "containerd://2.1.3"), ofEarlierPlugin, plugin("True"), List.of(slice()),
        lease("n", Duration.ofSeconds(8)))))
        .containsExactly("warn cgroups and CDI: the plugin does not say how the node is set up");
  }

  private static List<String> texts(NodeSetup setup, String runtime) {
    GpuNode gpuNode = PaperFleet.node("n", 1);
    gpuNode.setStatus(gpuNode.getStatus().withSetup(setup));
    return NodeChecks.of(nodes(node("v1.36.2", runtime), gpuNode, plugin("True"), List.of(slice()),
        lease("n", Duration.ofSeconds(8))), installation(), NOW).stream()
        .map(finding -> finding.verdict() + " " + finding.check() + ": " + finding.message()).toList();
  }

  @Test
  void whatTheUserMayNotSeeIsNeverSaidToBeWell() {
    Reading<List<Node>> hidden = new Reading.Forbidden<>("nodes: you may not");
    Snapshot.Nodes nodes =
        new Snapshot.Nodes(hidden, known(List.of(PaperFleet.node("n", 1))),
            new Reading.Forbidden<>("pods: you may not"), known(List.of(slice())),
            new Reading.Forbidden<>("leases: you may not"));
    assertThat(notWell(nodes)).containsExactly("warn nodes: could not be looked at: nodes: you may not",
        "fail node plugin: could not be looked at: pods: you may not");
    Map<Right, Boolean> few = ALL_RIGHTS.keySet().stream()
        .collect(Collectors.toMap(right -> right, right -> !right.verb().equals("patch")));
    assertThat(notWell(RightChecks.of(known(few))))
        .containsExactly("warn your rights: you may not patch gpunodes.gpu.partita.dev: needed by cordon, uncordon");
  }

  @Test
  void whatTheApiServerFailsToGiveIsToBeAskedForAgainAndNotARightThatIsMissing() {
    Snapshot.Nodes nodes =
        new Snapshot.Nodes(new Reading.Failed<>("nodes: busy"), new Reading.Failed<>("GpuNodes: busy"),
            new Reading.Failed<>("pods: busy"), known(List.of()), known(Map.of()));
    List<Finding> findings = NodeChecks.of(nodes, installation(), NOW);
    assertThat(notWell(findings)).containsExactly("warn nodes: could not be looked at: nodes: busy",
        "fail cards: could not be looked at: GpuNodes: busy", "fail node plugin: could not be looked at: pods: busy");
    assertThat(findings).extracting(Finding::mend)
        .containsOnly("try again, and look at the API server if it stays so");
    assertThat(RightChecks.of(new Reading.Failed<>("your rights: busy"))).singleElement()
        .extracting(Finding::verdict, Finding::mend)
        .containsExactly(Verdict.WARN, "try again, and look at the API server if it stays so");
  }

  @Test
  void aRightWithoutWhichNodesCannotBeSeenIsOneFailure() {
    Map<Right, Boolean> none = ALL_RIGHTS.keySet().stream().collect(Collectors.toMap(right -> right, _ -> false));
    Snapshot.Nodes hidden =
        new Snapshot.Nodes(nodes().nodes(), new Reading.Forbidden<>("gpunodes is forbidden"),
            new Reading.Forbidden<>("pods is forbidden"), known(List.of()), known(Map.of()));
    List<Finding> findings =
        Diagnosis.of(new Snapshot(cluster(), installation(), hidden, known(none))).findings();
    assertThat(notWell(findings)).filteredOn(text -> text.startsWith("fail")).containsExactly(
        "fail cards: could not be looked at: gpunodes is forbidden",
        "fail node plugin: could not be looked at: pods is forbidden");
    assertThat(notWell(findings)).filteredOn(text -> text.contains("your rights")).hasSize(RightChecks.NEEDED.size())
        .contains("warn your rights: you may not list gpunodes.gpu.partita.dev: needed by top, cordon",
            "warn your rights: you may not list pods: needed by explain, logs",
            "warn your rights: you may not get pods/log: needed by logs");
    assertThat(findings).extracting(Finding::mend).contains("ask for a role with that right",
        "ask for a role with that right in Partita's namespace");
  }

  @Test
  void nodesThatAreWellAreOneLineUnlessAllAreAskedFor() {
    Diagnosis diagnosis =
        new Diagnosis(
            List.of(Finding.ok("kubelet version", "a", "v1.36.2"), Finding.ok("kubelet version", "b", "v1.36.2"),
                Finding.fail("kubelet version", "c", "v1.35.0 is too old", "upgrade")));
    assertThat(DiagnosisText.of(diagnosis, false)).isEqualTo("""
        ok    kubelet version: 2 nodes: v1.36.2
        fail  kubelet version (c): v1.35.0 is too old
              mend: upgrade

        1 failed, 0 to look at, 2 ok
        """);
    assertThat(DiagnosisText.of(diagnosis, true)).contains("(a)", "(b)", "(c)");
  }
}
