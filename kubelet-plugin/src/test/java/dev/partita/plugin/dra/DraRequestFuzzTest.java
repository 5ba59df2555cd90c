package dev.partita.plugin.dra;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.partita.plugin.grant.ClaimRef;
import io.grpc.stub.StreamObserver;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesResponse;

/** Every claim of a request gets an answer, and only a UID that is safe as part of a path gets as far as the claims. */
class DraRequestFuzzTest {
  private static final ClaimService CLAIMS =
      new ClaimService() {
        @Override
        public Map<ClaimRef, Outcome> prepare(Collection<ClaimRef> claims) {
          return claims.stream().distinct()
              .collect(Collectors.toMap(claim -> safe(claim), claim -> new Failed("not here")));
        }

        @Override
        public Map<ClaimRef, Optional<String>> unprepare(Collection<ClaimRef> claims) {
          return claims.stream().distinct().collect(Collectors.toMap(claim -> safe(claim), claim -> Optional.empty()));
        }

        private static ClaimRef safe(ClaimRef claim) {
          assertThat(claim.uid()).matches("[A-Za-z0-9-]{1,64}");
          return claim;
        }
      };

  @FuzzTest(maxDuration = "10s")
  void everyClaimOfARequestIsAnsweredAndNoUidLeavesItsFolder(byte[] message) {
    NodePrepareResourcesRequest prepare;
    NodeUnprepareResourcesRequest unprepare;
    try {
      prepare = NodePrepareResourcesRequest.parseFrom(message);
      unprepare = NodeUnprepareResourcesRequest.parseFrom(message);
    } catch (InvalidProtocolBufferException notARequest) {
      return;
    }
    DraV1Service service = new DraV1Service(CLAIMS);
    Answer<NodePrepareResourcesResponse> prepared = new Answer<>();
    service.nodePrepareResources(prepare, prepared);
    prepare.getClaimsList().forEach(claim -> assertThat(prepared.get().getClaimsMap()).containsKey(claim.getUid()));
    Answer<NodeUnprepareResourcesResponse> unprepared = new Answer<>();
    service.nodeUnprepareResources(unprepare, unprepared);
    unprepare.getClaimsList().forEach(claim -> assertThat(unprepared.get().getClaimsMap()).containsKey(claim.getUid()));
  }

  private static final class Answer<T> implements StreamObserver<T> {
    private Optional<T> value = Optional.empty();

    T get() {
      return value.orElseThrow();
    }

    @Override
    public void onNext(T answer) {
      value = Optional.of(answer);
    }

    @Override
    public void onError(Throwable error) {
      throw new AssertionError(error);
    }

    @Override
    public void onCompleted() {}
  }
}
