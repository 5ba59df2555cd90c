package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.Driver;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.resize.GrantedSize;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.NodeResizes;
import dev.partita.api.resize.ShareSize;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import dev.partita.plugin.resize.ShareResizer;
import dev.partita.plugin.resize.SizeOwners;
import dev.partita.plugin.step.Step;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.IOException;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A share gets another size while something else happens to its claim. */
class ResizeOfClaimTest extends OnNodeOfPlugins {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final long GIB = 1L << 30;

  private volatile List<GrantedSize> told = List.of();
  private final AtomicInteger turns = new AtomicInteger();

  @Test
  void aSmallerSizeThatIsTakenBackBeforeItIsInForceHoldsNobodyAnyMore() throws IOException {
    ResourceClaim claim = prepared();
    grant(claim, Optional.of(new ShareSize(4 * GIB, 0)));
    whileResizing(real -> real, resizing -> {
      awaitMemory(4 * GIB);
      grant(claim, Optional.empty()); // as the controller says that it is to have again what it was allocated
      resizing.soon();
      awaitMemory(8 * GIB);
    });
  }

  @Test
  void aSmallerSizeThatIsTakenBackFromAClaimThatWasAsItIsToBeBeforeHoldsNobodyAnyMore() throws IOException {
    ResourceClaim claim = prepared();
    whileResizing(real -> real, resizing -> {
      awaitTurn(resizing);
      grant(claim, Optional.of(new ShareSize(4 * GIB, 0)));
      resizing.soon();
      awaitMemory(4 * GIB);
      grant(claim, Optional.empty());
      resizing.soon();
      awaitMemory(8 * GIB);
    });
  }

  @Test
  void aSmallerSizeThatIsTakenBackWhileNoPluginRunsHoldsNobodyAnyMore() throws IOException {
    ResourceClaim claim = prepared();
    grant(claim, Optional.of(new ShareSize(4 * GIB, 0)));
    whileResizing(() -> awaitMemory(4 * GIB));
    grant(claim, Optional.empty());
    whileResizing(() -> awaitMemory(8 * GIB));
  }

  @Test
  void aClaimThatIsPreparedAgainIsSoonHeldToTheSmallerSizeThatIsNotInForceYet() throws IOException {
    ResourceClaim claim = prepared();
    grant(claim, Optional.of(new ShareSize(4 * GIB, 0)));
    node.runParts(real -> real, parts -> {
      parts.inventory().refresh();
      try (Loops loops = new Loops()) {
        resizer(parts, () -> GpuNodeSpec.DEFAULT).start(loops);
        awaitMemory(4 * GIB);
        for (int i = 0; i < 3; i++) {
          assertThat(parts.preparer().prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
          awaitMemory(4 * GIB);
        }
      }
      return true;
    });
  }

  @Test
  void aSizeThatComesWhileTheClaimIsPreparedForAnotherPodIsInForceSoon() throws IOException {
    ResourceClaim claim = prepared();
    grant(claim, Optional.of(new ShareSize(12 * GIB, 0)));
    AtomicBoolean again = new AtomicBoolean();
    node.runParts(real -> real, parts -> {
      parts.inventory().refresh();
      try (Loops loops = new Loops()) {
        resizer(parts, () -> {
          if (again.compareAndSet(false, true)) { // after it has read the record, and before it writes
            reserve(claim);
            assertThat(parts.preparer().prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
          }
          return GpuNodeSpec.DEFAULT;
        }).start(loops);
        awaitMemory(12 * GIB);
      }
      return true;
    });
    assertThat(again).isTrue();
  }

  @Test
  void aClaimThatTheApiServerDoesNotFindOnceHasItsSizeSoon() throws IOException {
    ResourceClaim claim = prepared();
    grant(claim, Optional.of(new ShareSize(12 * GIB, 0)));
    AtomicInteger asked = new AtomicInteger();
    Interceptor notFoundOnce = new Interceptor() {
      @Override
      public void before(BasicBuilder builder, HttpRequest request, Interceptor.RequestTags tags) {
        if (asked.incrementAndGet() == 1) {
          builder.uri(URI.create(request.uri() + "-of-nobody"));
        }
      }
    };
    node.runParts(real -> real, parts -> {
      parts.inventory().refresh();
      try (KubernetesClient other = new KubernetesClientBuilder().withConfig(client.getConfiguration())
          .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("not-found", notFoundOnce)).build();
          Loops loops = new Loops()) {
        resizer(parts, new ClaimReader(other, ApiCalls.standard()), () -> GpuNodeSpec.DEFAULT).start(loops);
        awaitMemory(12 * GIB);
      }
      return true;
    });
    assertThat(asked).hasValueGreaterThan(1);
  }

  @Test
  void aSizeThatWaitsForADriverCostsTheApiServerNothing() throws IOException {
    ResourceClaim claim = prepared();
    grant(claim, Optional.of(new ShareSize(12 * GIB, 0)));
    AtomicInteger asked = new AtomicInteger();
    AtomicInteger tried = new AtomicInteger();
    Interceptor counting = new Interceptor() {
      @Override
      public void before(BasicBuilder builder, HttpRequest request, Interceptor.RequestTags tags) {
        asked.incrementAndGet();
      }
    };
    node.runParts(real -> real, parts -> { // and nobody has read the cards
      try (KubernetesClient other = new KubernetesClientBuilder().withConfig(client.getConfiguration())
          .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("counting", counting)).build();
          Loops loops = new Loops()) {
        PeriodicLoop resizing = resizer(parts, new ClaimReader(other, ApiCalls.standard()), () -> {
          tried.incrementAndGet();
          return parts.inventory().current();
        }, () -> GpuNodeSpec.DEFAULT).start(loops);
        await().atMost(SOON).until(() -> tried.get() > 2);
        assertThat(asked).hasValue(0);
        parts.inventory().refresh();
        resizing.soon();
        awaitMemory(12 * GIB);
      }
      return true;
    });
    assertThat(asked).hasValue(1);
  }

  @Test
  void noContainerHasALargerSizeBeforeTheRecordSaysSo() throws IOException {
    ResourceClaim claim = prepared();
    grant(claim, Optional.of(new ShareSize(12 * GIB, 0)));
    AtomicBoolean full = new AtomicBoolean(true);
    AtomicInteger refused = new AtomicInteger();
    node.runParts(real -> onDisk(full, refused, real), parts -> {
      parts.inventory().refresh();
      try (Loops loops = new Loops()) {
        PeriodicLoop resizing = resizer(parts, () -> GpuNodeSpec.DEFAULT).start(loops);
        await().atMost(SOON).until(() -> refused.get() > 0);
        assertThat(node.quotas()).singleElement().asString().contains("\nmemory " + 8 * GIB + "\n");
        full.set(false);
        resizing.soon();
        awaitMemory(12 * GIB);
      }
      return true;
    });
  }

  @Test
  void aSizeWhoseRecordCannotBeWrittenIsNobodysOnceItIsTakenBack() throws IOException {
    ResourceClaim claim = prepared("25");
    grant(claim, Optional.of(new ShareSize(12 * GIB, 10))); // more and less: no order of writing is right for both
    AtomicInteger refused = new AtomicInteger();
    whileResizing(real -> onDisk(new AtomicBoolean(true), refused, real), resizing -> {
      await().atMost(SOON).until(() -> refused.get() > 0);
      awaitMemory(12 * GIB);
      grant(claim, Optional.empty());
      resizing.soon();
      awaitMemory(8 * GIB);
    });
  }

  @Test
  void aSizeWhoseRecordCannotBeWrittenOfAClaimThatWasAsItIsToBeBeforeIsNobodysOnceItIsTakenBack() throws IOException {
    ResourceClaim claim = prepared("25");
    AtomicInteger refused = new AtomicInteger();
    whileResizing(real -> onDisk(new AtomicBoolean(true), refused, real), resizing -> {
      awaitTurn(resizing);
      grant(claim, Optional.of(new ShareSize(12 * GIB, 10)));
      resizing.soon();
      await().atMost(SOON).until(() -> refused.get() > 0);
      awaitMemory(12 * GIB);
      grant(claim, Optional.empty());
      resizing.soon();
      awaitMemory(8 * GIB);
    });
  }

  /** Waits until all claims have been looked at once: the next turn begins after that. */
  private void awaitTurn(PeriodicLoop resizing) {
    await().atMost(SOON).until(() -> turns.get() > 0);
    int before = turns.get();
    resizing.soon();
    await().atMost(SOON).until(() -> turns.get() > before);
  }

  /** No record can be written while the disk is full. */
  private static Step.Executor onDisk(AtomicBoolean full, AtomicInteger refused, Step.Executor real) {
    return step -> {
      if (full.get() && step instanceof Step.WriteRecord) {
        refused.incrementAndGet();
        throw new IOException("no space left on device");
      }
      real.execute(step);
    };
  }

  /** A claim of a share of 8 GiB. */
  private ResourceClaim prepared() throws IOException {
    return prepared("");
  }

  private ResourceClaim prepared(String cores) throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", cores));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    return claim;
  }

  /** One plugin's life. */
  private void whileResizing(Runnable check) throws IOException {
    whileResizing(real -> real, _ -> check.run());
  }

  private void whileResizing(NodeOfPlugins.Wrap wrap, Consumer<PeriodicLoop> check) throws IOException {
    node.runParts(wrap, parts -> {
      parts.inventory().refresh();
      try (Loops loops = new Loops()) {
        check.accept(resizer(parts, () -> GpuNodeSpec.DEFAULT).start(loops));
      }
      return true;
    });
  }

  private ShareResizer resizer(NodeOfPlugins.Parts parts, Supplier<GpuNodeSpec> spec) {
    return resizer(parts, parts.api(), spec);
  }

  private ShareResizer resizer(NodeOfPlugins.Parts parts, ClaimReader api, Supplier<GpuNodeSpec> spec) {
    return resizer(parts, api, parts.inventory()::current, spec);
  }

  private ShareResizer resizer(
      NodeOfPlugins.Parts parts,
      ClaimReader api,
      Supplier<Inventory> cards,
      Supplier<GpuNodeSpec> spec) {
    ShareResizer.NodeState state = new ShareResizer.NodeState(NodeOfPlugins.NODE + "/gpu",
        () -> {
          turns.incrementAndGet();
          return Optional.of(new NodeResizes(told, List.of()));
        }, cards, spec, () -> Map.of(),
        _ -> Instant.EPOCH);
    return new ShareResizer(state, parts.checkpoint(), api, parts.claims().rewriter(), parts.reports(),
        new SizeOwners(), Clock.systemUTC());
  }

  private void awaitMemory(long bytes) {
    await().atMost(SOON).until(node::quotas,
        quotas -> quotas.size() == 1 && quotas.getFirst().contains("\nmemory " + bytes + "\n"));
  }

  /** What the controller does; nothing is granted of what is as the allocation says. */
  private void grant(ResourceClaim claim, Optional<ShareSize> size) {
    String share = claim.getStatus().getAllocation().getDevices().getResults().getFirst().getShareID();
    await().atMost(SOON).ignoreExceptions().until(() -> stored(claim).edit(read -> {
      ResourceClaimBuilder edited = new ResourceClaimBuilder(read);
      return size.isPresent()
          ? edited.editMetadata().addToAnnotations(Driver.GRANTED_SIZES_ANNOTATION,
              new GrantedSizes(Map.of(share, size.get())).toString()).endMetadata().build()
          : edited.editMetadata().removeFromAnnotations(Driver.GRANTED_SIZES_ANNOTATION).endMetadata().build();
    }) != null);
    told = size.stream().map(its -> new GrantedSize(claim.getMetadata().getUid(), GrantedSizes.key(share),
        its.toString())).toList();
  }

  private void reserve(ResourceClaim claim) {
    await().atMost(SOON).ignoreExceptions().until(() -> stored(claim).editStatus(read -> {
      read.getStatus().setReservedFor(
          List.of(new ResourceClaimConsumerReference("", "p", "pods", "6a2f41a3-c54c-4ce8-92d2-0324e1c32e22")));
      return read;
    }) != null);
  }

  private Resource<ResourceClaim> stored(ResourceClaim claim) {
    return client.resources(ResourceClaim.class).inNamespace("default").withName(claim.getMetadata().getName());
  }
}
