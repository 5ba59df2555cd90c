package dev.partita.serving.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ConnectionsTest {
  private final AtomicLong now = new AtomicLong();
  private final List<String> ended = new ArrayList<>();
  private final Connections connections = new Connections(3, now::get);

  @Test
  void aNewConnectionEndsTheOneThatHasSentNothingForLongest() {
    open("first");
    open("second");
    open("third");
    open("fourth");
    open("fifth");
    assertThat(ended).containsExactly("first", "second");
  }

  @Test
  void whoHasAskedBeforeIsKeptLongerThanWhoNeverDid() {
    Connections.One first = open("first");
    first.isAnswered();
    first.idles();
    open("second");
    open("third");
    open("fourth");
    assertThat(ended).containsExactly("second");
  }

  @Test
  void ofThoseThatAskedBeforeTheOneThatIsIdleForLongestGoes() {
    List<Connections.One> all = List.of(open("first"), open("second"), open("third"));
    all.forEach(Connections.One::isAnswered);
    List.of(all.get(1), all.get(0), all.get(2)).forEach(Connections.One::idles);
    open("fourth");
    assertThat(ended).containsExactly("second");
  }

  @Test
  void noneIsEndedThatIsBeingAnsweredAndWhereAllAreTheNewOneIsNotTaken() {
    List.of(open("first"), open("second"), open("third")).forEach(Connections.One::isAnswered);
    assertThat(connections.open(() -> ended.add("fourth"))).isEmpty();
    assertThat(ended).isEmpty();
  }

  @Test
  void whoHasNotReadItsAnswerForLongestIsEndedForANewOne() {
    List<Connections.One> all = List.of(open("first"), open("second"), open("third"));
    all.forEach(Connections.One::isAnswered);
    all.get(1).isWritten(100);
    now.addAndGet(1);
    all.get(0).isWritten(100);
    now.addAndGet(1);
    open("fourth");
    now.addAndGet(1);
    open("fifth");
    now.addAndGet(1);
    open("sixth");
    assertThat(ended).containsExactly("second", "first", "fourth");
  }

  @Test
  void answersThatNobodyReadsTakeABoundedNumberOfBytes() {
    List<Connections.One> all = List.of(open("first"), open("second"), open("third"));
    all.get(0).isWritten(HttpLimits.UNSENT_BYTES + 1);
    assertThat(ended).as("there is no other").isEmpty();
    all.get(1).isWritten(1);
    assertThat(ended).containsExactly("first");
    all.get(2).isWritten(HttpLimits.UNSENT_BYTES - 1);
    assertThat(ended).containsExactly("first");
    all.get(2).idles();
    all.get(2).isWritten(HttpLimits.UNSENT_BYTES - 1);
    assertThat(ended).as("what was read counts no more").containsExactly("first");
    all.get(2).isWritten(HttpLimits.UNSENT_BYTES);
    assertThat(ended).containsExactly("first", "second");
  }

  @Test
  void whoAsksOrReadsIsNotEndedForIdleOnesBeforeThereAreHalfAsMany() {
    Connections four = new Connections(4, now::get);
    for (String name : List.of("idle-1", "idle-2", "idle-3")) {
      four.open(() -> ended.add(name)).orElseThrow().idles();
    }
    for (String name : List.of("new-1", "new-2", "new-3")) {
      assertThat(four.open(() -> ended.add(name))).isPresent();
      now.addAndGet(1);
    }
    assertThat(ended).containsExactly("idle-1", "new-1");
  }

  @Test
  void whoWasCutOffIsToldSoWhenItWouldBeAnswered() {
    Connections.One first = open("first");
    Connections.One second = open("second");
    open("third");
    open("fourth");
    assertThat(first.isAnswered()).isFalse();
    assertThat(second.isAnswered()).isTrue();
  }

  @Test
  void whatHasHadItsTimeIsEnded() {
    open("asks");
    open("idle").idles();
    open("answered").isAnswered();
    pass(HttpLimits.REQUEST.minusMillis(1));
    assertThat(ended).isEmpty();
    pass(Duration.ofMillis(1));
    assertThat(ended).containsExactly("asks");
    pass(HttpLimits.ANSWER.minus(HttpLimits.REQUEST));
    assertThat(ended).containsExactly("asks", "answered");
    pass(HttpLimits.IDLE.minus(HttpLimits.ANSWER));
    assertThat(ended).containsExactly("asks", "answered", "idle");
  }

  @Test
  void whatHasEndedTakesNoPlace() {
    open("first").ended();
    open("second");
    open("third");
    Connections.One fourth = open("fourth");
    open("fifth"); // ends the second
    fourth.ended();
    fourth.idles();
    open("sixth");
    assertThat(ended).containsExactly("first", "second", "fourth");
  }

  @Test
  void onceAllAreEndedNoneIsTaken() {
    open("first");
    connections.endAll();
    assertThat(ended).containsExactly("first");
    assertThat(connections.open(() -> ended.add("second"))).isEmpty();
  }

  private Connections.One open(String name) {
    return connections.open(() -> ended.add(name)).orElseThrow();
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
    connections.endOverdue();
  }
}
