package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AllocationReviewTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String OURS = "{'driver': 'gpu.partita.dev', 'pool': 'controllers/gpu', 'device': 'gpu-0'}";

  private final AllocationReview review = new AllocationReview("controllers"::equals);

  @Test
  void nobodyElseAllocatesWhereTheControllerDoes() throws JsonProcessingException {
    assertThat(
        asked("{}", allocated("{'driver': 'nic.example', 'pool': 'controllers/gpu', 'device': 'nic-0'}, " + OURS)))
        .isInstanceOfSatisfying(Verdict.Forbidden.class,
            forbidden -> assertThat(forbidden.why()).contains("node controllers", "gpu.partita.dev/allocator"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'driver': 'gpu.partita.dev', 'pool': 'schedulers/gpu', 'device': 'gpu-0'}",
        "{'driver': 'gpu.partita.dev', 'pool': 'controllers/gpu', 'device': 'gpu-0', 'adminAccess': true}",
        "{'driver': 'gpu.nvidia.com', 'pool': 'controllers/gpu', 'device': 'gpu-0'}",
        "{'driver': 'gpu.partita.dev', 'pool': 'controllers', 'device': 'gpu-0'}"
      })
  void whatIsNotTheControllersMayBeAllocated(String result) throws JsonProcessingException {
    assertThat(asked("{}", allocated(result))).isEqualTo(Verdict.allowed());
  }

  @Test
  void aClaimThatIsAllocatedMayBeReservedAndOneMayBeGivenBack() throws JsonProcessingException {
    assertThat(asked(allocated(OURS), allocated(OURS))).isEqualTo(Verdict.allowed());
    assertThat(asked(allocated(OURS), "{}")).isEqualTo(Verdict.allowed());
    assertThat(asked("{}", "{'status': {'reservedFor': [{'uid': '1'}]}}")).isEqualTo(Verdict.allowed());
  }

  private static String allocated(String results) {
    return "{'status': {'allocation': {'devices': {'results': [" + results + "]}}}}";
  }

  private Verdict asked(String before, String after) throws JsonProcessingException {
    return review.apply(new AdmissionRequest("1", "resource.k8s.io", "resourceclaims", "UPDATE", "team",
        JSON.readTree(after.replace('\'', '"')), JSON.readTree(before.replace('\'', '"'))));
  }
}
