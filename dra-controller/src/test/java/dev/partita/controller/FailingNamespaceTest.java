package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.serving.access.FaultyApiServer.Fault;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A webhook for the namespace {@code team} fails, or does not answer: nobody else waits for that. */
class FailingNamespaceTest {
  private static final String CLAIMS = "/namespaces/team/resourceclaims/";

  private final Cluster cluster = Cluster.empty();
  private final AtomicInteger asked = new AtomicInteger();

  @BeforeEach
  void add() {
    cluster.add(GpuNodes.ready("node-0", 4, "NVIDIA H200", 140 * GpuNodes.GIB));
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void othersClaimsAreAllocatedAndSlicesArePublishedWhileWritesToANamespaceKeepFailing() {
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.rules.fail(
        request -> isOfTeam(request.getMethod(), request.getPath()) && asked.incrementAndGet() > 0
            ? Fault.BROKEN
            : Fault.NONE);
    List<String> names = waitingInTeam(8);
    eventually().until(() -> asked.get() >= 10); // so many let all like them pause for 5 s
    cluster.claim("y", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("y", "y");
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    eventually().atMost(Duration.ofSeconds(4)).until(() -> cluster.isAllocated("y"));
    cluster.awaitOffered("node-1");
    assertThat(names).noneMatch(this::isAllocatedInTeam);
    cluster.rules.fail(_ -> Fault.NONE);
    eventually().until(() -> names.stream().allMatch(this::isAllocatedInTeam));
  }

  @Test
  void othersClaimsAreAllocatedWhileWritesToANamespaceHang() {
    CountDownLatch answers = new CountDownLatch(1);
    cluster.start(request -> {
      if (isOfTeam(request.method(), request.uri().getPath())) {
        asked.incrementAndGet();
        SchedulingGateTest.awaitOpen(answers);
      }
    });
    try {
      cluster.awaitOffered("node-0");
      List<String> names = waitingInTeam(32);
      eventually().until(() -> asked.get() == 16); // all that write at once
      cluster.claim("y", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("y", "y");
      eventually().until(() -> cluster.isAllocated("y"));
      assertThat(asked).hasValue(16);
      answers.countDown();
      eventually().until(() -> names.stream().allMatch(this::isAllocatedInTeam));
    } finally {
      answers.countDown();
    }
  }

  @Test
  void othersSizesAreGrantedWhileWritesToANamespaceHang() {
    AtomicBoolean hangs = new AtomicBoolean();
    CountDownLatch answers = new CountDownLatch(1);
    cluster.start(request -> {
      if (hangs.get() && isOfTeam(request.method(), request.uri().getPath())) {
        asked.incrementAndGet();
        SchedulingGateTest.awaitOpen(answers);
      }
    });
    try {
      cluster.awaitOffered("node-0");
      List<String> names = waitingInTeam(6);
      eventually().until(() -> names.stream().allMatch(this::isAllocatedInTeam));
      cluster.claim("y", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("y", "y");
      cluster.result("y");
      cluster.awaitQuiet();
      hangs.set(true);
      names.forEach(name -> ask("team", name));
      eventually().until(() -> asked.get() == names.size());
      ask("default", "y");
      eventually().until(() -> cluster.read("y").getMetadata().getAnnotations()
          .getOrDefault(Driver.RESIZE_ANSWER_ANNOTATION, "").endsWith(": granted"));
      assertThat(asked).as("each is written by one at a time").hasValue(names.size());
    } finally {
      answers.countDown();
    }
  }

  private void ask(String namespace, String claim) {
    cluster.client.resources(ResourceClaim.class).inNamespace(namespace).withName(claim)
        .edit(read -> new ResourceClaimBuilder(read).editMetadata()
            .addToAnnotations(Driver.RESIZE_ANNOTATION, "memory=9Gi").endMetadata().build());
  }

  private static boolean isOfTeam(String method, String path) {
    return List.of("PATCH", "PUT").contains(method) && path.contains(CLAIMS);
  }

  private List<String> waitingInTeam(int count) {
    List<String> names = IntStream.range(0, count).mapToObj(i -> "x-" + i).toList();
    for (String name : names) {
      cluster.client.resource(new ResourceClaimBuilder(
          new ClaimForm(name, "gpu.partita.dev").capacity(Map.of("memory", "8Gi")).claim()).editMetadata()
          .withNamespace("team").endMetadata().build()).create();
      cluster.client.resource(new PodBuilder().withNewMetadata().withName(name).withNamespace("team").endMetadata()
          .withNewSpec().addNewResourceClaim().withName(name).withResourceClaimName(name).endResourceClaim().endSpec()
          .build()).create();
    }
    return names;
  }

  private boolean isAllocatedInTeam(String name) {
    return AllocatedClaim.isAllocated(
        cluster.client.resources(ResourceClaim.class).inNamespace("team").withName(name).require());
  }
}
