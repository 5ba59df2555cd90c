package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.GpuNodes;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.DeviceRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Pods with as many claims and requests as the API lets somebody write, decided upon by a thread as the controller has
 * it.
 */
class ManyDevicesTest {
  /** What the controller's threads have (deploy/image/stage.sh). */
  private static final long STACK = 512 << 10;

  private final SmallCluster cluster = new SmallCluster();

  @BeforeEach
  void aNodeOfEightCards() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 140 * GpuNodes.GIB));
  }

  @Test
  void allSharesOfAllCardsOfANodeArePlaced() {
    Outcome outcome = decided(8, claim -> Requests.claim("claim-" + claim, shares(32)));
    assertThat(outcome).isInstanceOf(Outcome.Allocated.class);
    assertThat(((Outcome.Allocated) outcome).claims()).allSatisfy(claim -> assertThat(claim.devices()).hasSize(32))
        .hasSize(8);
  }

  @Test
  void moreDevicesThanAPodCanHoldAreRefusedWithTheReason() {
    assertThat(refusal(100, claim -> Requests.claim("claim-" + claim, shares(32))))
        .contains("the pod's claims ask for 3200 devices there; the claims of one pod can hold 256");
  }

  @Test
  void allDevicesOfAKindForEachOfManyClaimsAreRefusedWithTheReason() {
    assertThat(
        refusal(100, claim -> Requests.claim("claim-" + claim, Requests.all(Requests.share("gpu", 1, 1 << 20, 0)))))
        .contains("the pod's claims ask for 800 devices there; the claims of one pod can hold 256");
  }

  @Test
  void anAlternativeOfMoreCardsThanAnybodyHasIsPassedOverForTheNextOne() {
    ClaimRequest claim = Requests.claim("claim", Requests.whole("gpu", 1));
    Outcome outcome = decided(1, _ -> new ClaimRequest(claim.claim(), List.of(anyNumberOrOne("a"), anyNumberOrOne("b")),
        List.of()));
    assertThat(outcome).isInstanceOf(Outcome.Allocated.class);
    assertThat(((Outcome.Allocated) outcome).claims().getFirst().devices()).hasSize(2);
  }

  private static NamedRequest anyNumberOrOne(String name) {
    return new NamedRequest(name,
        List.of(Requests.whole(name + "/all", Integer.MAX_VALUE), Requests.whole(name + "/one", 1)));
  }

  private static DeviceRequest[] shares(int count) {
    return IntStream.range(0, count).mapToObj(request -> Requests.share("gpu-" + request, 1, GpuNodes.GIB, 0))
        .toArray(DeviceRequest[]::new);
  }

  private String refusal(int claims, IntFunction<ClaimRequest> claim) {
    Outcome outcome = decided(claims, claim);
    assertThat(outcome).isInstanceOf(Outcome.Unallocatable.class);
    return ((Outcome.Unallocatable) outcome).explanation().summary(900);
  }

  private Outcome decided(int claims, IntFunction<ClaimRequest> claim) {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                outcome.complete(
                    cluster.allocate(IntStream.range(0, claims).mapToObj(claim).toArray(ClaimRequest[]::new)));
              } catch (Throwable e) {
                outcome.completeExceptionally(e);
              }
            },
            "small stack",
            STACK);
    thread.start();
    return outcome.orTimeout(60, TimeUnit.SECONDS).join();
  }
}
