package dev.partita.admission.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.partita.api.config.Decoded;

/**
 * Whoever may make pods writes this annotation: the controller makes templates from it, by names that must follow from
 * it.
 */
class ConvertedRequestsFuzzTest {
  @FuzzTest(maxDuration = "10s")
  void anyNoteGivesErrorsOrRequestsThatAreWrittenAsTheyWereRead(FuzzedDataProvider data) {
    String note = data.consumeRemainingAsString();
    if (ConvertedRequests.read(note) instanceof Decoded.Valid<ConvertedRequests>(ConvertedRequests requests)) {
      assertThat(requests.text()).isEqualTo(note);
      assertThat(requests.requests().stream().map(ClaimTemplate::new).map(ClaimTemplate::name))
          .allMatch(name -> name.matches("partita-[0-9a-f]{20}"));
    }
  }
}
