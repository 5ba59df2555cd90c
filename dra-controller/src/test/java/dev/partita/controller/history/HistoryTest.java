package dev.partita.controller.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.fleet.Totals;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class HistoryTest {
  private static final long DAY = 24 * 60 * 60;

  private final History history = new History();

  private static Sample sample(long at, int waiting) {
    return new Sample(at, new Totals(1, 1, 2, 2, 3, 2, 1, 200, 100, 50), waiting);
  }

  private void sampled(long... times) {
    LongStream.of(times).forEach(at -> history.add(sample(at, 1)));
  }

  private static List<Sample> stored(long... times) {
    return LongStream.of(times).mapToObj(at -> sample(at, 2)).toList();
  }

  private List<String> known() {
    return history.samples().stream().map(sample -> sample.at() + ":" + sample.waiting()).toList();
  }

  @Test
  void ofMoreThanADayTheOldestGoes() {
    LongStream.range(0, 2_000).forEach(minute -> sampled(minute * 60));
    assertThat(history.samples()).hasSize(History.MOST).last().extracting(Sample::at).isEqualTo(1_999 * 60L);
  }

  @Test
  void whatIsADayOldGoesThoughThereAreFewSamples() {
    sampled(100, 200, 100 + DAY);
    assertThat(known()).containsExactly("200:1", 100 + DAY + ":1");
  }

  @Test
  void storedSamplesStandForTheirTimeAndOwnOnesForTheTimeBeforeAndAfter() {
    sampled(100, 160, 220, 280, 340);
    history.merge(stored(150, 210, 270));
    assertThat(known()).containsExactly("100:1", "150:2", "210:2", "270:2", "280:1", "340:1");
  }

  @Test
  void mergingTheSameAgainChangesNothing() {
    sampled(100, 400);
    history.merge(stored(200, 300));
    List<String> once = known();
    history.merge(history.samples());
    history.merge(stored(200, 300));
    assertThat(known()).isEqualTo(once);
  }

  @Test
  void nothingStoredTakesNothingAway() {
    sampled(100);
    history.merge(List.of());
    assertThat(known()).containsExactly("100:1");
  }

  @Test
  void storedSamplesThatAreADayOldAreNotTakenOver() {
    sampled(10 * DAY);
    history.merge(stored(100, 9 * DAY, 9 * DAY + 1));
    assertThat(known()).containsExactly(9 * DAY + 1 + ":2", 10 * DAY + ":1");
  }

  @Test
  void whatWasSampledBeforeTheClockWasSetBackGoes() {
    sampled(100, 160, 220, 160);
    assertThat(known()).containsExactly("100:1", "160:1");
  }

  @Test
  void whoListensIsToldOfOwnSamplesUntilHeLeaves() {
    AtomicInteger told = new AtomicInteger();
    Runnable listener = told::incrementAndGet;
    history.listen(listener);
    sampled(100, 160);
    history.merge(stored(130));
    history.unlisten(listener);
    sampled(220);
    assertThat(told).hasValue(2);
  }
}
