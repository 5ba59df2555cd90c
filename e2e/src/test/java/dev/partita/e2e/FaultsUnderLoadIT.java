package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.AllocatedCards;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Pods that have cards in every way come and go in an order that nobody chose, evict each other and get other sizes,
 * while daemons are killed. By default a few steps; {@code
 * -Dpartita.faults.steps=3000 -Djunit.jupiter.execution.timeout.mode=disabled} goes on for half an hour,
 * {@code -Dpartita.faults.everything=true} kills Kubernetes' own daemons as well, and {@code -Dpartita.faults.seed}
 * repeats an order.
 */
@OnRealCluster
@Isolated("it kills controllers, and daemons of a node")
class FaultsUnderLoadIT {
  private static final int STEPS = Integer.getInteger("partita.faults.steps", 40);
  private static final long SEED = Long.getLong("partita.faults.seed", System.nanoTime() & 0xffff);

  /** Whether Kubernetes' own daemons are killed as well, beside which no other test can run. */
  private static final boolean EVERYTHING = Boolean.getBoolean("partita.faults.everything");

  private static final int CARDS = 5;

  /** With more pods than this none are added. */
  private static final int MANY = 40;

  /** How many pods kubelet runs at a time; those on paper cost nothing. */
  private static final int RUNNING = 4;

  /** Below those of other tests' pods. */
  private static final List<Integer> PRIORITIES = List.of(-903, -902, -901);

  @Test
  void nothingIsAllocatedTwiceNobodyIsForgottenAndNothingIsLeft(RealCluster cluster, Workspace workspace) {
    System.out.println("faults under load: seed " + SEED + ", " + STEPS + " steps");
    String node = cluster.brokenNode();
    try (Cleanup cleanup = new Cleanup();
        PaperNode paper = PaperNode.create(cluster.client(), workspace.namespace(), CARDS)) {
      cleanup.undo("what " + node + " offers", () -> cluster.patchGpuNode(node, "{\"publish\": null}"));
      cluster.patchGpuNode(node, "{\"publish\": [\"Whole\", \"Shared\", \"Mig\"]}");
      new Daemons(cluster.client()).awaitSlices(paper.name());
      Load load = new Load(cluster, workspace, paper.name());
      for (int step = 0; step < STEPS; step++) {
        load.step(step);
        load.nothingIsAllocatedTwice();
      }
      load.drain();
      workspace.pod("all-of-a-node", node, Ask.wholeCards(RealCluster.CARDS), "true").awaitLog();
      workspace.pod("all-on-paper", paper.name(), Ask.wholeCards(CARDS), "true").awaitBound().deleteOnPaper();
      load.nothingIsLeft();
    }
  }

  /** What the test does to the cluster, by chance. */
  private static final class Load {
    private final RealCluster cluster;
    private final Workspace workspace;
    private final String paper;
    private final String node;
    private final List<String> priorityClasses;
    private final Random random = new Random(SEED);
    private final Set<String> claims = new HashSet<>(); // UIDs of all that were seen
    private boolean kubeletWasKilled;

    Load(RealCluster cluster, Workspace workspace, String paper) {
      this.cluster = cluster;
      this.workspace = workspace;
      this.paper = paper;
      this.node = cluster.brokenNode();
      this.priorityClasses =
          PRIORITIES.stream().map(value -> workspace.priorityClass("faults" + value, value)).toList();
    }

    void step(int number) {
      int chance = random.nextInt(pods().size() > MANY ? 55 : 0, 100);
      if (number % 25 == 0) {
        System.out.println(
            "faults under load: step " + number + ", " + pods().size() + " pods, " + claims.size() + " claims so far");
      }
      if (chance < 35) {
        workspace.pod("pod-" + number, onPaper(), ask(), "exec sleep 3600");
      } else if (chance < 42) {
        gang("gang-" + number, 2 + random.nextInt(3));
      } else if (chance < 55 && pods().stream().filter(pod -> isOf(pod, node)).count() < RUNNING) {
        workspace.pod("real-" + number, PodTraits.on(node).priorityClass(priorityClass()), askOfDriver(),
            "exec partita-probe hold " + (64 + random.nextInt(900)) + "Mi");
      } else if (chance < 65) {
        resize();
      } else if (chance < 90) {
        any(pods()).ifPresent(this::delete);
      } else if (chance < 94) {
        new Controllers(cluster).ready().forEach(this::kill);
      } else if (chance < 98 || cluster.lab().isEmpty()) {
        new Daemons(cluster.client()).plugin(node).ifPresent(this::kill);
      } else {
        List<String> daemons = EVERYTHING
            ? List.of("etcd", "apiserver", "scheduler", "kcm", node + ".containerd", node + ".kubelet")
            : List.of(node + ".kubelet");
        cluster.lab().orElseThrow().restart(daemons.get(random.nextInt(daemons.size())));
        kubeletWasKilled = true;
        await("the cluster to answer").atMost(Workspace.PATIENCE).ignoreExceptions()
            .until(() -> cluster.files().shell(node, "echo back"), "back"::equals);
      }
      endOnPaper();
      remember();
    }

    private <T> Optional<T> any(List<T> of) {
      return of.isEmpty() ? Optional.empty() : Optional.of(of.get(random.nextInt(of.size())));
    }

    /** Not if it is dead already: the API server learns of that late. */
    private void kill(Pod daemon) {
      try {
        cluster.files().signal(daemon.getSpec().getNodeName(), daemon.getMetadata().getUid(), "KILL");
      } catch (IllegalStateException noProcess) {
        System.out.println("faults under load: " + noProcess.getMessage());
      }
    }

    /** The owner of a claim asks for another size, whether or not it can be had. */
    private void resize() {
      any(workspace.claims()).ifPresent(claim -> {
        try {
          new ClaimUnderTest(workspace, claim.getMetadata().getName()).annotate("gpu.partita.dev/resize",
              "memory=" + (1 + random.nextInt(60)) + "Gi,cores=" + 5 * random.nextInt(1, 15));
        } catch (KubernetesClientException gone) {
          System.out.println("faults under load: " + gone.getMessage());
        }
      });
    }

    /**
     * containerd gives up a container whose kubelet is killed while it starts; the pod then has failed for good. And
     * others may evict it.
     */
    private void awaitRunning(PodUnderTest pod) {
      await("pod " + pod.name() + " to run, unless it was evicted" + (kubeletWasKilled ? " or given up" : ""))
          .atMost(Workspace.PATIENCE).until(() -> pod.phase().equals("Running") || !pod.isStaying()
              || (kubeletWasKilled && pod.startFailed()));
    }

    private PodTraits onPaper() {
      PodTraits traits = PodTraits.on(paper).priorityClass(priorityClass());
      return random.nextBoolean() ? traits : traits.gate(PodTraits.ALLOCATION_GATE);
    }

    private String priorityClass() {
      return any(priorityClasses).orElseThrow();
    }

    private Ask ask() {
      return switch (random.nextInt(12)) {
        case 0 -> Ask.wholeCards(1 + random.nextInt(2));
        case 1 -> Ask.share("20Gi").cores(40).cards(2);
        case 2 -> new Ask(Ask.ANY_SHARE, 1, Map.of(), "", "").config("sharing: {strategy: TimeSlicing}");
        case 3 -> Ask.share("8Gi").config("placement: {exclusive: true}");
        default -> share();
      };
    }

    /** With what takes a driver, or a program that holds memory. */
    private Ask askOfDriver() {
      return switch (random.nextInt(10)) {
        case 0 -> Ask.instance("1g.18gb");
        case 1 -> Ask.instance("3g.71gb");
        case 2 -> share().config("sharing: {strategy: MPS}");
        case 3 -> new Ask(Ask.ANY_SHARE, 1, Map.of(), "", "")
            .config("sharing: {strategy: TimeSlicing, interval: Short}");
        case 4 -> share().config("memoryLimit: 100Gi");
        default -> ask();
      };
    }

    private Ask share() {
      return Ask.share((1 + random.nextInt(60)) + "Gi").cores(5 * random.nextInt(1, 15));
    }

    private void gang(String name, int size) {
      Ask ask = share();
      for (int i = 0; i < size; i++) {
        workspace.pod(name + "-" + i, onPaper().gang(name, size), ask, "true");
      }
    }

    private void delete(Pod pod) {
      var resource = workspace.client().pods().inNamespace(workspace.namespace()).withName(pod.getMetadata().getName());
      resource.withGracePeriod(random.nextInt(5) == 0 ? 0 : 1).delete();
    }

    /** Kubelet alone may say that a container is gone; on paper there is none. */
    private void endOnPaper() {
      workspace.client().pods().inNamespace(workspace.namespace()).list().getItems().stream()
          .filter(pod -> isOf(pod, paper) && pod.getMetadata().getDeletionTimestamp() != null)
          .forEach(pod -> new PodUnderTest(workspace, pod.getMetadata().getName()).deleteOnPaper());
    }

    private static boolean isOf(Pod pod, String node) {
      return node.equals(pod.getSpec().getNodeSelector().get("kubernetes.io/hostname"));
    }

    private List<Pod> pods() {
      return workspace.client().pods().inNamespace(workspace.namespace()).list().getItems().stream()
          .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
          .toList();
    }

    private List<String> names() {
      return pods().stream().map(pod -> pod.getMetadata().getName()).toList();
    }

    private void remember() {
      workspace.claims().stream().map(claim -> claim.getMetadata().getUid()).forEach(claims::add);
    }

    /** By what claims were allocated, and by what containers are held to. */
    void nothingIsAllocatedTwice() {
      AllocatedCards.of(workspace.claims()).areAllocatedOnce();
      await("what programs are held to on " + node).atMost(Workspace.PATIENCE).untilAsserted( // while files change
          () -> assertThat(quotas().values()).allSatisfy(
              bytes -> assertThat(bytes).isLessThanOrEqualTo(RealCluster.CARD_MEMORY - RealCluster.CARD_RESERVED)));
    }

    /** What the quotas of the node's shares allow together, in bytes, by the card's UUID. */
    private Map<String, Long> quotas() {
      return cluster.files().shell(node, "find /run/partita -name quota -exec awk '$1 == \"gpu\" {gpu = $2}"
          + " $1 == \"memory\" {memory = $2} END {print gpu, memory}' {} \\; 2>/dev/null || true").lines()
          .map(line -> line.split(" ")).filter(words -> words.length == 2)
          .collect(Collectors.toMap(words -> words[0], words -> Long.parseLong(words[1]), Long::sum));
    }

    /**
     * Every pod gets its turn once those before it are gone: each fits on an empty node. Members of gangs that others
     * were deleted of wait for ever, and go.
     */
    void drain() {
      pods().stream().filter(this::isOfABrokenGang).forEach(this::delete);
      for (List<String> left = names(); !left.isEmpty(); left = names()) {
        List<Pod> served =
            await("any of " + left + " to be bound")
                .atMost(Workspace.PATIENCE)
                .until(() -> {
                  endOnPaper();
                  return pods().stream().filter(pod -> pod.getSpec().getNodeName() != null).toList();
                }, bound -> !bound.isEmpty());
        remember();
        nothingIsAllocatedTwice();
        served.stream().filter(pod -> isOf(pod, node))
            .map(pod -> new PodUnderTest(workspace, pod.getMetadata().getName())).forEach(this::awaitRunning);
        served.forEach(this::delete);
        endOnPaper();
      }
    }

    private boolean isOfABrokenGang(Pod pod) {
      String gang = pod.getMetadata().getAnnotations().get("gpu.partita.dev/gang");
      return gang != null
          && pods().stream()
              .filter(other -> gang.equals(other.getMetadata().getAnnotations().get("gpu.partita.dev/gang"))).count()
              < Integer.parseInt(pod.getMetadata().getAnnotations().get("gpu.partita.dev/gang-size"));
    }

    void nothingIsLeft() {
      remember();
      workspace.client().pods().inNamespace(workspace.namespace()).withGracePeriod(1).delete();
      await("claims to be gone").atMost(Workspace.PATIENCE).until(
          () -> workspace.claims().stream().map(ResourceClaim::getMetadata).map(m -> m.getName()).toList(),
          List::isEmpty);
      await("traces of claims on " + node)
          .atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertThat(
              claims.stream().map(uid -> cluster.files().tracesOf(uid, node)).filter(traces -> !traces.isEmpty()))
              .isEmpty());
      await("what " + node + " holds without a claim, and daemons of MPS").atMost(Workspace.PATIENCE)
          .untilAsserted(() -> {
            assertThat(cluster.files().shell(node, "ls /run/partita/mps 2>/dev/null || true")).isEmpty();
            assertThat(String.valueOf(cluster.gpuNode(node).get().getAdditionalProperties().get("status")))
                .doesNotContain("held=");
          });
    }
  }
}
