package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.Lab;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnOwnNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OurContainers;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Tenant;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What somebody may do to others who has the built-in role {@code edit} in one namespace, and nothing else. Whatever he
 * did in a test, a neighbour's pod is served afterwards, and none of our containers was started again. A test for one
 * more thing that he may try is one more method here: it does it through {@link #tenant}.
 */
@OnRealCluster
@NeedsSteadyController
class HostileTenantIT {
  private static final List<String> API_VERSIONS = List.of("v1", "v1beta2", "v1beta1");
  private static final String PROPOSAL = "gpu.partita.dev/proposed-allocation";
  private static final String FINALIZER = "resource.kubernetes.io/delete-protection";
  private static final String SET_PROPOSAL = "{\"metadata\": {\"annotations\": {\"" + PROPOSAL + "\": \"x\"}}}";
  private static final String DROP_PROPOSAL = "{\"metadata\": {\"annotations\": {\"" + PROPOSAL + "\": null}}}";
  private static final String DROP_FINALIZERS = "{\"metadata\": {\"finalizers\": null}}";
  private static final String REMOVE_FINALIZERS = "[{\"op\": \"remove\", \"path\": \"/metadata/finalizers\"}]";

  @TempDir Path folder = Path.of("");

  private Tenant tenant;
  private OurContainers before;

  @BeforeEach
  void thereIsATenant(RealCluster cluster, Workspace workspace) {
    tenant = Tenant.in(workspace);
    before = OurContainers.of(cluster, node(cluster));
  }

  @AfterEach
  void aNeighbourIsServedAndNothingOfOursWasStartedAgain(RealCluster cluster, Workspace workspace) {
    tenant.close();
    try (Workspace neighbour = workspace.another()) {
      PodUnderTest pod = neighbour.pod("neighbour", node(cluster), Ask.share("1Gi"), "partita-probe alloc 256Mi");
      assertThat(pod.awaitLog()).contains("CUDA_SUCCESS");
    }
    assertThat(OurContainers.of(cluster, node(cluster))).isEqualTo(before);
  }

  private static String node(RealCluster cluster) {
    return cluster.quietNodes().getFirst();
  }

  private static void assertRefused(String policy, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            KubernetesClientException.class, refused -> assertThat(refused.getCode()).isIn(403, 422))
        .hasMessageContaining("ValidatingAdmissionPolicy '" + policy + "'");
  }

  private static PatchContext of(PatchType type) {
    return PatchContext.of(type);
  }

  // ---- the annotation by which controllers tell each other what is about to be allocated

  @Test
  void heMakesNoClaimAndNoTemplateWithAProposalInAnyVersionOfTheApi(Workspace workspace) {
    String annotated = "annotations: {" + PROPOSAL + ": x}}";
    for (String version : API_VERSIONS) {
      String kind = "{apiVersion: resource.k8s.io/" + version + ", kind: ResourceClaim";
      String spec = "spec: {devices: {requests: [" + request(version, Ask.ANY_SHARE, "") + "]}}";
      String claim = kind + ", metadata: {name: books, " + annotated + ", " + spec + "}";
      String template = kind + "Template, metadata: {name: books}, spec: {metadata: {" + annotated + ", " + spec + "}}";
      assertRefused("partita-proposals", () -> tenant.create(claim));
      assertRefused("partita-proposals", () -> tenant.create(template));
    }
    assertThat(workspace.claims()).isEmpty();
  }

  @Test
  void heSetsNoProposalOnAClaimOfOursOrOfAnotherDriver(Workspace workspace) {
    String nics = workspace.deviceClassOfNics();
    ClaimUnderTest ours = workspace.claim("ours", Ask.share("1Gi"));
    ClaimUnderTest other = workspace.claimOfSpec("other", "{devices: {requests: [" + request("v1", nics, "") + "]}}");
    for (ClaimUnderTest claim : List.of(ours, other)) {
      var his = tenant.claim(claim.name());
      assertRefused("partita-proposals", () -> his.patch(of(PatchType.JSON_MERGE), SET_PROPOSAL));
      assertRefused("partita-proposals", () -> his.patch(of(PatchType.STRATEGIC_MERGE), SET_PROPOSAL));
      assertRefused(
          "partita-proposals",
          () -> his.edit(
              found -> new ResourceClaimBuilder(found)
                  .editMetadata()
                  .addToAnnotations(PROPOSAL, "x")
                  .endMetadata()
                  .build()));
      assertThat(claim.proposal()).isEmpty();
    }
  }

  /** Such an annotation is on every claim that the controller has allocated. */
  @Test
  void heMayTakeAProposalOffHisClaimButNotChangeIt(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.pod("own", node(cluster), Ask.share("2Gi"), "exec partita-probe hold 512Mi");
    ClaimUnderTest claim = pod.awaitLine("holding").claim();
    assertThat(claim.proposal()).isNotEmpty();
    var his = tenant.claim(claim.name());
    assertRefused("partita-proposals", () -> his.patch(of(PatchType.JSON_MERGE), SET_PROPOSAL));
    his.patch(of(PatchType.JSON_MERGE), "{\"metadata\": {\"labels\": {\"touched\": \"yes\"}}}");
    his.patch(of(PatchType.JSON_MERGE), DROP_PROPOSAL);
    assertThat(claim.proposal()).isEmpty();
    String allocations = pod.exec("partita-probe alloc 3Gi; partita-probe alloc 256Mi");
    assertThat(allocations).as("his pod goes on").containsSubsequence("OUT_OF_MEMORY", "CUDA_SUCCESS");
  }

  // ---- the annotations by which shares get another size

  @Test
  void heGrantsHisShareNoSizeAndTakesNoneThatWasGrantedBack(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.pod("own", node(cluster), Ask.share("2Gi"), "exec sleep infinity").awaitRunning();
    ClaimUnderTest claim = pod.claim();
    String share = claim.awaitAllocated().getFirst().getShareID();
    var his = tenant.claim(claim.name());
    for (String key : List.of("gpu.partita.dev/granted-sizes", "gpu.partita.dev/resize-answer")) {
      assertRefused("partita-granted-sizes", () -> his.patch(of(PatchType.JSON_MERGE),
          "{\"metadata\": {\"annotations\": {\"" + key + "\": \"" + share + ":memory=100Gi,cores=0\"}}}"));
    }
    his.patch(of(PatchType.JSON_MERGE),
        "{\"metadata\": {\"annotations\": {\"gpu.partita.dev/resize\": \"memory=3Gi\"}}}");
    await("the size to be granted").atMost(Workspace.PATIENCE)
        .until(() -> claim.annotation("gpu.partita.dev/granted-sizes").contains("memory=3Gi"));
    assertRefused("partita-granted-sizes", () -> his.patch(of(PatchType.JSON_MERGE),
        "{\"metadata\": {\"annotations\": {\"gpu.partita.dev/granted-sizes\": null}}}"));
    String template = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: sized}, spec: {"
        + "metadata: {annotations: {gpu.partita.dev/granted-sizes: \"x:memory=100Gi,cores=0\"}}, spec: {devices: {requests: ["
        + request("v1", Ask.ANY_SHARE, "") + "]}}}}";
    assertRefused("partita-granted-sizes", () -> tenant.create(template));
  }

  // ---- the finalizer that keeps a claim while its pod runs

  @Test
  void aClaimThatHeDeletesStaysWithItsCardUntilItsPodHasEnded(RealCluster cluster, Workspace workspace) {
    ClaimUnderTest claim = workspace.claim("kept", Ask.wholeCards(1));
    PodUnderTest pod = workspace.podOf(claim, "runs", node(cluster), "exec partita-probe hold 1Gi");
    pod.awaitLine("holding");
    String card = claim.devices().getFirst().getDevice();

    var his = tenant.claim(claim.name());
    his.delete();
    assertRefused("partita-delete-protection", () -> his.patch(of(PatchType.JSON_MERGE), DROP_FINALIZERS));
    assertRefused("partita-delete-protection", () -> his.patch(of(PatchType.STRATEGIC_MERGE), DROP_FINALIZERS));
    assertRefused("partita-delete-protection", () -> his.patch(of(PatchType.JSON), REMOVE_FINALIZERS));
    assertRefused(
        "partita-delete-protection",
        () -> his.edit(found -> new ResourceClaimBuilder(found).editMetadata().withFinalizers().endMetadata().build()));
    for (String version : API_VERSIONS) {
      var inVersion = tenant.claim(version, claim.name());
      assertRefused("partita-delete-protection", () -> inVersion.patch(of(PatchType.JSON), REMOVE_FINALIZERS));
    }
    String release = "{\"status\": {\"allocation\": null}}";
    assertThatThrownBy(() -> his.subresource("status").patch(of(PatchType.JSON_MERGE), release))
        .hasMessageContaining("forbidden");

    assertThat(claim.get().getMetadata().getFinalizers()).contains(FINALIZER);
    PodUnderTest second = workspace.pod("second", node(cluster), Ask.wholeCards(1), "exec sleep 600").awaitRunning();
    assertThat(second.claim().devices())
        .singleElement()
        .satisfies(its -> assertThat(its.getDevice()).isNotEqualTo(card));
    pod.deleteAndAwait();
    await("the claim to go with its pod").atMost(Workspace.PATIENCE).until(() -> claim.find().isEmpty());
  }

  /** It is nobody's business but his while it has no device of ours. */
  @Test
  void aClaimThatHasNothingLosesItsFinalizerAsHeLikes(Workspace workspace) {
    ClaimUnderTest claim = workspace.claim("idle", Ask.share("1Gi"));
    var his = tenant.claim(claim.name());
    his.edit(found -> new ResourceClaimBuilder(found).editMetadata().addToFinalizers(FINALIZER).endMetadata().build());
    his.patch(of(PatchType.JSON), REMOVE_FINALIZERS);
    assertThat(claim.get().getMetadata().getFinalizers()).isEmpty();
  }

  // ---- the taint that keeps kube-scheduler from what the controller allocates

  @Test
  void heNamesTheTaintInNoVersionOfTheApiWhateverTheClassAndWhetherOrNotAControllerAnswers(Workspace workspace) {
    String nics = workspace.withoutAdmission().deviceClassOfNics();
    for (String version : API_VERSIONS) {
      for (String deviceClass : List.of(Ask.ANY_SHARE, nics, "no-such-class")) {
        for (String toleration : List.of("operator: Exists", "value: controller", "effect: NoSchedule")) {
          String both = "{key: other, operator: Exists}, {key: gpu.partita.dev/allocator, " + toleration + "}";
          String request = request(version, deviceClass, both);
          assertRefused("partita-tolerations", () -> tenant.create(claim(version, request)));
          assertRefused("partita-tolerations", () -> tenant.create(template(version, request)));
        }
      }
    }
    String tolerations = "tolerations: [{key: gpu.partita.dev/allocator, operator: Exists}]";
    String second = "{name: b, deviceClassName: " + nics + ", " + tolerations + "}";
    String request = "{name: gpu, firstAvailable: [{name: a, deviceClassName: " + nics + "}, " + second + "]}";
    assertRefused("partita-tolerations", () -> tenant.create(claim("v1", request)));
    assertThat(workspace.claims()).isEmpty();
  }

  @Test
  void heToleratesEveryTaintOnNoClassThatBearsOurName(Workspace workspace) {
    workspace.withoutAdmission();
    for (String deviceClass : List.of(Ask.ANY_SHARE, Ask.WHOLE_CARD, "h200.gpu.partita.dev")) {
      String any = request("v1", deviceClass, "{operator: Exists}");
      assertRefused("partita-tolerations", () -> tenant.create(claim("v1", any)));
      String anyThatKeepsPodsAway = request("v1", deviceClass, "{operator: Exists, effect: NoSchedule}");
      assertRefused("partita-tolerations", () -> tenant.create(template("v1", anyThatKeepsPodsAway)));
    }
    String sick = request("v1", Ask.ANY_SHARE, "{key: gpu.partita.dev/unhealthy, operator: Exists}");
    assertThat(tenant.create(claim("v1", sick)).getKind()).isEqualTo("ResourceClaim");
  }

  /**
   * Only a controller knows whose such a class is, and none is asked here: kube-scheduler tries, and is refused. The
   * controller, which would give him a card that is free, waits for the rest of the pod's gang.
   */
  @Test
  void kubeSchedulerGivesHimNothingOfWhatTheControllerAllocates(RealCluster cluster, Workspace workspace) {
    String everyCard = workspace.withoutAdmission().deviceClassOf("gpu.partita.dev");
    tenant.create(claim("v1", request("v1", everyCard, "{operator: Exists}")));
    ClaimUnderTest claim = new ClaimUnderTest(workspace, "asks");
    PodTraits oneOfTwo = PodTraits.on(node(cluster)).gang("pair", 2);
    PodUnderTest pod = workspace.podOf(claim, "greedy", oneOfTwo, "true");

    assertThat(workspace.awaitEvent("Pod", pod.name(), "FailedScheduling", "partita-allocations").message())
        .contains("name the keys of the taints");
    assertThat(claim.devices()).isEmpty();
    assertThat(pod.node()).isEmpty();
  }

  private static String claim(String version, String request) {
    String spec = "{devices: {requests: [" + request + "]}}";
    return "{apiVersion: resource.k8s.io/%s, kind: ResourceClaim, metadata: {name: asks}, spec: %s}"
        .formatted(version, spec);
  }

  private static String template(String version, String request) {
    String spec = "{spec: {devices: {requests: [" + request + "]}}}";
    return "{apiVersion: resource.k8s.io/%s, kind: ResourceClaimTemplate, metadata: {name: asks}, spec: %s}"
        .formatted(version, spec);
  }

  /** v1beta1 has no {@code exactly}. */
  private static String request(String version, String deviceClass, String tolerations) {
    String fields = "deviceClassName: %s, tolerations: [%s]".formatted(deviceClass, tolerations);
    return "{name: gpu, " + (version.equals("v1beta1") ? fields : "exactly: {" + fields + "}") + "}";
  }

  // ---- expressions and numbers as large as the API takes them

  @Test
  void selectorsNestedAsDeeplyAsTheApiTakesThemHoldUpNobody(RealCluster cluster, Workspace workspace) {
    List<String> made = new ArrayList<>();
    for (int levels : new int[]{40, 120, 199, 225, 249}) {
      List<String> nests =
          List.of(
              "(".repeat(levels) + "true" + ")".repeat(levels),
              "!".repeat(levels) + "true",
              "[".repeat(levels) + "]".repeat(levels) + " == []",
              "true ? ".repeat(levels) + "true" + " : false".repeat(levels),
              "size(string(".repeat(levels / 2) + "1" + "))".repeat(levels / 2) + " > 0");
      for (int i = 0; i < nests.size(); i++) {
        String name = "nest-" + levels + "-" + i;
        try {
          workspace.podOf(workspace.claim(name, selecting(nests.get(i))), name, node(cluster), "true");
          made.add(name);
        } catch (KubernetesClientException refused) { // by the API server, which has limits of its own, also of time
          assertThat(refused.getCode()).as(refused.getMessage()).isIn(422, 504);
        }
      }
    }
    assertThat(made).as("what the API server takes").hasSizeGreaterThan(5);
    made.forEach(name -> awaitDecided(workspace, name));
  }

  /** Bytes are those of ISO 8859-1, so that some can be none of UTF-8. */
  @Test
  void whatJsonDecodersRefuseAndTheApiTakesHidesNobodyElsesObjects(Workspace workspace) throws Exception {
    String nics = workspace.deviceClassOfNics();
    String claims = "/apis/resource.k8s.io/v1/namespaces/" + tenant.namespace() + "/resourceclaims";
    Map<String, String> values = Map.of("deep", "[".repeat(3_000) + "]".repeat(3_000), "long-number",
        "0." + "1".repeat(5_000), "name", "{\"" + "a".repeat(9_000) + "\":1}",
        "half-a-pair", "{\"\\udc00\":\"\\ud800\"}", "no-utf8", "\"\u00c3\u00ff\"");
    for (var value : values.entrySet()) {
      String claim = """
          {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "%s"},
           "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "%s"}}],
             "config": [{"opaque": {"driver": "x.example.com", "parameters": {"a": %s}}}]}}}
          """.formatted(value.getKey(), nics, value.getValue());
      assertThat(tenant.post(claims, claim.getBytes(StandardCharsets.ISO_8859_1))).as(value.getKey()).isEqualTo(201);
    }
    String pod = """
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "long-name"},
         "spec": {"schedulingGates": [{"name": "example.com/wait"}],
           "containers": [{"name": "main", "image": "none", "env": [{"name": "%s", "value": "x"}]}]}}
        """.formatted("A".repeat(400_000));
    String pods = "/api/v1/namespaces/" + tenant.namespace() + "/pods";
    assertThat(tenant.post(pods, pod.getBytes(StandardCharsets.US_ASCII))).isEqualTo(201);
  }

  @Test
  void aPodWithAHundredClaimsOfThirtyTwoRequestsIsToldThatItAsksForTooMuch(RealCluster cluster, Workspace workspace) {
    String requests =
        IntStream.range(0, 32)
            .mapToObj(
                i -> "{name: r%d, exactly: {deviceClassName: gpu.partita.dev, capacity: {requests: {memory: 1Gi}}}}"
                    .formatted(i))
            .collect(Collectors.joining(", "));
    List<String> names = IntStream.range(0, 100).mapToObj(i -> "many-" + i).toList();
    names.forEach(name -> workspace.claimOfSpec(name, "{devices: {requests: [" + requests + "]}}"));
    tenant.create(
        """
            apiVersion: v1
            kind: Pod
            metadata: {name: many}
            spec:
              nodeSelector: {kubernetes.io/hostname: %s}
              resourceClaims: [%s]
              containers: [{name: main, image: none, resources: {claims: [%s]}}]
            """
            .formatted(
                node(cluster),
                names.stream().map(name -> "{name: " + name + ", resourceClaimName: " + name + "}")
                    .collect(Collectors.joining(", ")),
                names.stream().map(name -> "{name: " + name + "}").collect(Collectors.joining(", "))));
    awaitDecided(workspace, "many");
  }

  private static Ask selecting(String expression) {
    return new Ask(Ask.ANY_SHARE, 1, Map.of("memory", "1Gi"), "", expression);
  }

  /** Waits until the pod has a place, or is told why it has none. */
  private static void awaitDecided(Workspace workspace, String pod) {
    await("pod " + pod + " to be decided")
        .atMost(Workspace.PATIENCE)
        .until(
            () -> {
              Pod found = workspace.client().pods().inNamespace(workspace.namespace()).withName(pod).get();
              return found.getSpec().getNodeName() != null
                  || found.getStatus().getConditions().stream()
                      .anyMatch(condition -> condition.getType().equals("gpu.partita.dev/Allocated"));
            });
  }

  // ---- what is said to him of others

  /** All priorities are below the default, so that no other test's pod is a victim. */
  @Test
  @OnOwnNode
  void ofPodsWithWhichHeCompetesForCardsHeLearnsTheUidsAloneAndTheyLearnHisAlone(
      RealCluster cluster,
      Workspace workspace) {
    new Daemons(cluster.client()).awaitFreeCards(cluster.ownNode());
    PodTraits there = PodTraits.on(cluster.ownNode());
    String ends = "trap 'exit 0' TERM; sleep 600 & wait";
    try (Workspace others = workspace.another()) {
      PodTraits dear = there.priorityClass(others.priorityClass("dear", -50));
      PodTraits cheap = there.priorityClass(others.priorityClass("cheap", -900));
      PodUnderTest kept = others.pod("neighbours-first", dear, Ask.wholeCards(3), ends).awaitRunning();
      PodUnderTest victim = others.pod("neighbours-second", cheap, Ask.wholeCards(1), ends).awaitRunning();
      String uid = victim.uid();
      PodTraits his = there.priorityClass(workspace.priorityClass("his", -100));

      PodUnderTest waits = workspace.pod("tenants-first", his, Ask.wholeCards(2), "true");
      workspace.awaitEvent("ResourceClaim", waits.claim().name(), "Unallocatable");
      PodUnderTest evicts = workspace.pod("tenants-second", his, Ask.wholeCards(1), "exec sleep 600");
      workspace.awaitEvent("ResourceClaim", evicts.claim().name(), "Unallocatable", "preempts pod " + uid);
      others.awaitEvent("Pod", victim.name(), "Preempted", "for pod " + evicts.uid());
      evicts.awaitRunning();
      String card = evicts.claim().devices().getFirst().getDevice();
      PodUnderTest late = others.pod("neighbours-third", cheap, Ask.wholeCards(1).onCardOf(card), "true");
      others.awaitEvent("ResourceClaim", late.claim().name(), "Unallocatable");

      assertThat(kept.isStaying()).isTrue();
      assertThat(workspace.everythingSaid()).doesNotContain(others.namespace(), "neighbours-");
      assertThat(others.everythingSaid()).doesNotContain(workspace.namespace(), "tenants-");
    }
  }

  // ---- root in a container, against the plugin of its node

  /**
   * It takes leases on its claim's files, has a child lock its region that shares its descriptors and ends, and lets
   * the region grow.
   */
  @Test
  void rootInAContainerThatHoldsItsFilesAgainstThePluginHarmsNoOtherClaim(RealCluster cluster, Workspace workspace)
      throws IOException, InterruptedException {
    Lab lab = cluster.lab().orElseGet(() -> Assumptions.abort("only a lab makes images here"));
    Path program = folder.resolve("hostile");
    Process compiler =
        new ProcessBuilder("cc", "-static", "-O1", "-o", program.toString(),
            cluster.home() + "/e2e/src/test/c/hostile.c").inheritIO().start();
    assertThat(compiler.waitFor()).isZero();
    Path archive = folder.resolve("hostile.tar");
    lab.image("localhost/partita-e2e/hostile:1", archive, List.of(program + ":/usr/bin/hostile"));
    cluster.load(archive);

    ClaimUnderTest claim = workspace.claim("held", Ask.share("1Gi"));
    PodUnderTest before =
        workspace.pod("before", node(cluster), Ask.share("2Gi"), "exec partita-probe hold 1Gi").awaitLine("holding");
    tenant.create(
        """
            apiVersion: v1
            kind: Pod
            metadata: {name: hostile}
            spec:
              terminationGracePeriodSeconds: 0
              nodeSelector: {kubernetes.io/hostname: %s}
              resourceClaims: [{name: gpu, resourceClaimName: %s}]
              containers:
              - name: main
                image: localhost/partita-e2e/hostile:1
                imagePullPolicy: IfNotPresent
                securityContext: {runAsUser: 0, capabilities: {add: [LEASE]}}
                command: [sh, -c, 'exec hostile /run/partita/shares/*/usage /etc/partita/shares/*/quota /etc/partita/shares/*/card']
                resources: {claims: [{name: gpu}], limits: {memory: 64Mi}}
            """
            .formatted(node(cluster), claim.name()));
    new PodUnderTest(workspace, "hostile").awaitLine("holding on");
    for (int i = 0; i < 3; i++) {
      Instant asked = Instant.now();
      assertThat(workspace.pod("beside-" + i, node(cluster), Ask.share("1Gi"), "partita-probe alloc 256Mi").awaitLog())
          .contains("CUDA_SUCCESS");
      assertThat(Duration.between(asked, Instant.now())).as("one lease would hold a prepare up for 45 s")
          .isLessThan(Duration.ofSeconds(30));
    }
    assertThat(before.exec("partita-probe alloc 3Gi")).as("a neighbour's limit").contains("OUT_OF_MEMORY");
    assertThat(before.phase()).isEqualTo("Running");
  }
}
