package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Share;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** As claims are prepared, the driver is told what their pods may hold of the cards. */
class DriverLimitTest extends OnNodeOfPlugins {
  private static final String POD = "6a2f41a3-c54c-4ce8-92d2-0324e1c32e22";
  private static final String OTHER = "7a2f41a3-c54c-4ce8-92d2-0324e1c32e22";
  private static final long GIB = 1L << 30;

  @Test
  void thePodsOfAClaimAreHeldToItsSharesBeforeItsContainersStart() throws IOException {
    node.cards.limitsMemory = true;
    Path pod = cgroup(POD);
    Path other = cgroup(OTHER);
    ResourceClaim claim = claimOf(List.of(POD, OTHER), "8Gi");
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.cards.limits).containsOnly(
        entry(pod + " GPU-0", 8 * GIB), entry(other + " GPU-0", 8 * GIB));
  }

  @Test
  void twoClaimsOfAPodOnOneCardCountTogether() throws IOException {
    node.cards.limitsMemory = true;
    Path pod = cgroup(POD);
    node.prepare(claimOf(List.of(POD), "8Gi"));
    node.prepare(claimOf(List.of(POD), "2Gi"));
    assertThat(node.cards.limits).containsEntry(pod + " GPU-0", 10 * GIB);
  }

  @Test
  void aDriverWithoutLimitsIsNotAsked() throws IOException {
    cgroup(POD);
    assertThat(node.prepare(claimOf(List.of(POD), "8Gi"))).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.cards.limits).isEmpty();
  }

  @Test
  void aClaimIsPreparedThoughTheDriverRefusesTheLimit() throws IOException {
    node.cards.limitsMemory = true;
    node.cards.refusesLimits = true;
    cgroup(POD);
    assertThat(node.prepare(claimOf(List.of(POD), "8Gi"))).isInstanceOf(ClaimService.Ready.class);
  }

  @Test
  void andThoughItsPodHasNoCgroup() throws IOException {
    node.cards.limitsMemory = true;
    assertThat(node.prepare(claimOf(List.of(POD), "8Gi"))).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.cards.limits).isEmpty();
  }

  @Test
  void aCheckDoesNotSetBackTheLimitOfAShareThatGrowsMeanwhile() throws Exception {
    node.cards.limitsMemory = true;
    Path pod = cgroup(POD);
    assertThat(node.prepare(claimOf(List.of(POD), "8Gi"))).isInstanceOf(ClaimService.Ready.class);
    CompletableFuture<Optional<String>> grown = new CompletableFuture<>();
    node.runParts(real -> real, parts -> {
      parts.inventory().refresh();
      node.cards.whileLimitIsRead = () -> {
        node.cards.whileLimitIsRead = () -> {};
        grown.completeAsync(this::grow, Thread::startVirtualThread);
        waitForASecond(grown);
      };
      return parts.limits().check(Map::of);
    });
    assertThat(grown.get(20, TimeUnit.SECONDS)).isEmpty();
    assertThat(node.cards.limits).containsOnly(entry(pod + " GPU-0", 12 * GIB));
  }

  @Test
  void aCheckDoesNotSetBackTheLimitOfAShareThatBecomesSmaller() throws IOException {
    node.cards.limitsMemory = true;
    Path pod = cgroup(POD);
    assertThat(node.prepare(claimOf(List.of(POD), "8Gi"))).isInstanceOf(ClaimService.Ready.class);
    node.runParts(real -> real, parts -> {
      parts.inventory().refresh();
      PreparedClaim record = parts.checkpoint().readAll().getFirst();
      assertThat(parts.claims().rewriter().writeSizes(record, sized(record, 4 * GIB))).isEmpty();
      assertThat(node.cards.limits).containsOnly(entry(pod + " GPU-0", 4 * GIB));
      parts.limits().check(Map::of);
      assertThat(node.cards.limits).as("its record still says 8 GiB").containsOnly(entry(pod + " GPU-0", 4 * GIB));
      assertThat(parts.claims().rewriter().writeSizes(record, record)).isEmpty();
      return parts.limits().check(Map::of);
    });
    assertThat(node.cards.limits).containsOnly(entry(pod + " GPU-0", 8 * GIB));
  }

  @Test
  void aPluginThatMayNotSetLimitsLiftsThoseOfOneThatMight() throws IOException {
    node.cards.limitsMemory = true;
    Path pod = cgroup(POD);
    Path other = cgroup(OTHER);
    node.prepare(claimOf(List.of(POD), "8Gi"));
    node.prepare(claimOf(List.of(OTHER), "2Gi"));
    assertThat(node.cards.limits).containsOnlyKeys(pod + " GPU-0", other + " GPU-0");
    node.cards.limits.put(other + " GPU-0", GIB); // an administrator's own
    node.driverLimits = false;
    node.runParts(real -> real, parts -> {
      parts.inventory().refresh();
      return parts.limits().check(Map::of);
    });
    assertThat(node.cards.limits).containsOnly(entry(other + " GPU-0", GIB));
  }

  @Test
  void aShareThatGrowsIsNotHeldToItsFormerSizeByALimitThatNobodyHasLiftedYet() throws IOException {
    node.cards.limitsMemory = true;
    cgroup(POD);
    node.prepare(claimOf(List.of(POD), "8Gi"));
    assertThat(node.cards.limits).isNotEmpty();
    node.driverLimits = false;
    assertThat(grow()).isEmpty();
    assertThat(node.cards.limits).isEmpty();
  }

  private static PreparedClaim sized(PreparedClaim record, long bytes) {
    Grant grant = record.grants().getFirst();
    return record.with(List.of(new Grant(grant.requests(), grant.device(), grant.shareId(), grant.card(),
        new HookedShare(new Share(bytes, 0, CoreLimit.HARD, 1)))));
  }

  /** Another plugin gives the claim 12 GiB. */
  private Optional<String> grow() {
    try {
      return node.runParts(real -> real, parts -> {
        parts.inventory().refresh();
        PreparedClaim record = parts.checkpoint().readAll().getFirst();
        return parts.claims().rewriter().resize(record, sized(record, 12 * GIB));
      });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Less where that ends earlier: it cannot while who asks the driver keeps it from doing so. */
  private static void waitForASecond(CompletableFuture<?> call) {
    try {
      call.get(1, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      // the test looks at it
    }
  }

  private Path cgroup(String pod) throws IOException {
    return Files.createDirectories(root.resolve("cgroup/kubepods/burstable/pod" + pod));
  }

  private ResourceClaim claimOf(List<String> pods, String memory) {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, memory, ""));
    List<ResourceClaimConsumerReference> consumers = new ArrayList<>();
    pods.forEach(pod -> consumers.add(new ResourceClaimConsumerReference("", "p-" + pod, "pods", pod)));
    claim.getStatus().setReservedFor(consumers);
    return client.resource(claim).updateStatus();
  }
}
