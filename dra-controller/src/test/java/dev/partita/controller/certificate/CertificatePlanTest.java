package dev.partita.controller.certificate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.certificate.CertificateStep.ForgetOver;
import dev.partita.controller.certificate.CertificateStep.NewAuthority;
import dev.partita.controller.certificate.CertificateStep.NewServing;
import dev.partita.controller.certificate.CertificateStep.Wait;
import dev.partita.serving.certificate.CertificateAuthority;
import dev.partita.serving.certificate.Lifetime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CertificatePlanTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final String NAME = "partita-webhook.partita-system.svc";

  @Test
  void fromNothingThereIsAnAuthorityAndThenACertificateAtOnce() {
    assertThat(next(CertificateState.EMPTY, false, START)).isInstanceOf(NewAuthority.class);
    CertificateState state = CertificateState.EMPTY.with(CertificateAuthority.make(START));
    assertThat(next(state, false, START)).isInstanceOf(NewServing.class);
    assertThat(next(complete(START), false, START))
        .as("the configurations have yet to trust it, which is not for the plan").isInstanceOf(Wait.class);
  }

  @Test
  void aCertificateIsRenewedWhenAThirdOfItsLifeIsLeft() {
    CertificateState state = complete(START);
    assertThat(next(state, true, START.plus(Duration.ofDays(59))))
        .isEqualTo(new Wait(Lifetime.of(serving(state)).renewal()));
    assertThat(next(state, true, START.plus(Duration.ofDays(61)))).isInstanceOf(NewServing.class);
    assertThat(Duration.between(Lifetime.of(serving(state)).renewal(), Lifetime.of(serving(state)).end()))
        .isBetween(Duration.ofDays(29), Duration.ofDays(31));
  }

  @Test
  void whatAClockMadeThatWasAheadIsReplacedAtOnce() {
    Instant ahead = START.plus(Duration.ofDays(400));
    assertThat(next(complete(ahead), true, START)).isInstanceOf(NewAuthority.class);
    CertificateState renewed = complete(START);
    CertificateState served = renewed.with(authority(renewed).issue(NAME, START.plus(Duration.ofHours(1))));
    assertThat(next(served, true, START)).isInstanceOf(NewServing.class);
    assertThat(next(renewed, true, START)).isInstanceOf(Wait.class);
  }

  @Test
  void aNewAuthorityIsTrustedEverywhereBeforeItSignsWhatIsServed() {
    Instant due = START.plus(Duration.ofDays(740));
    CertificateState one = complete(START);
    CertificateState served = one.with(authority(one).issue(NAME, due.minusSeconds(1)));
    assertThat(next(served, true, due)).isInstanceOf(NewAuthority.class);
    CertificateState two = served.with(CertificateAuthority.make(due));
    assertThat(two.bundle()).hasSize(2);
    Instant known = due.plus(CertificatePlan.SPREAD);
    assertThat(next(two, false, due)).isEqualTo(new Wait(known));
    assertThat(next(two, true, due.plusSeconds(1))).as("API servers may not have seen it").isEqualTo(new Wait(known));
    assertThat(next(two, false, known)).as("a configuration could not be written")
        .isEqualTo(new Wait(known.plus(CertificatePlan.SPREAD)));
    assertThat(next(two, true, known)).isInstanceOf(NewServing.class);
    CertificateState after = two.with(authority(two).issue(NAME, known));
    assertThat(CertificateAuthority.vouches(two.bundle().get(0), serving(after))).isTrue();
    assertThat(CertificateAuthority.vouches(two.bundle().get(1), serving(after))).isFalse();
    assertThat(next(after, true, known)).isInstanceOf(Wait.class);
  }

  @Test
  void theEarlierAuthorityIsTrustedUntilItIsOver() {
    CertificateState one = complete(START);
    Instant due = START.plus(Duration.ofDays(740));
    CertificateState two = one.with(CertificateAuthority.make(due));
    CertificateState served = two.with(authority(two).issue(NAME, due.plus(Duration.ofDays(330))));
    Instant over = Lifetime.of(one.bundle().getFirst()).end();
    assertThat(next(served, true, over.minusSeconds(1))).isEqualTo(new Wait(over));
    assertThat(next(served, true, over)).isInstanceOf(ForgetOver.class);
    assertThat(served.withoutOver(over).bundle()).containsExactly(two.bundle().getFirst());
  }

  @Test
  void anAuthorityWithoutItsKeyGetsASuccessorBesideIt() {
    CertificateState whole = complete(START);
    CertificateState lost = new CertificateState(Optional.empty(), whole.bundle(), whole.serving());
    assertThat(next(lost, true, START.plusSeconds(5))).isInstanceOf(NewAuthority.class);
    CertificateState two = lost.with(CertificateAuthority.make(START.plusSeconds(5)));
    assertThat(two.bundle()).hasSize(2);
    assertThat(next(two, true, START.plusSeconds(6))).as("what is served is trusted as before")
        .isInstanceOf(Wait.class);
  }

  @Test
  void nothingIsWaitedForWhereNothingWorks() {
    CertificateState two = complete(START).with(CertificateAuthority.make(START));
    CertificateState untrusted = new CertificateState(two.authority(), List.of(two.bundle().getFirst()), two.serving());
    assertThat(next(untrusted, false, START)).as("nobody vouches for it").isInstanceOf(NewServing.class);
    assertThat(next(two, false, START.plus(Duration.ofDays(91)))).as("it is over").isInstanceOf(NewServing.class);
  }

  @Test
  void aCertificateForAnotherNameIsReplaced() {
    CertificateState state = complete(START);
    assertThat(CertificatePlan.next(state, true, "other.elsewhere.svc", START.plus(CertificatePlan.SPREAD)))
        .isInstanceOf(NewServing.class);
  }

  private static CertificateStep next(CertificateState state, boolean trusted, Instant now) {
    return CertificatePlan.next(state, trusted, NAME, now);
  }

  private static CertificateState complete(Instant now) {
    CertificateState state = CertificateState.EMPTY.with(CertificateAuthority.make(now));
    return state.with(authority(state).issue(NAME, now));
  }

  private static CertificateAuthority authority(CertificateState state) {
    return state.authority().orElseThrow();
  }

  private static java.security.cert.X509Certificate serving(CertificateState state) {
    return state.serving().orElseThrow().certificate();
  }
}
