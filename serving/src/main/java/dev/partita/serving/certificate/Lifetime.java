package dev.partita.serving.certificate;

import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;

/** The time during which a certificate is good, and when the next one is due. */
public record Lifetime(Instant begin, Instant end) {
  /** Certificates begin earlier than they are made, for the sake of API servers whose clocks are late. */
  public static final Duration BACKDATED = Duration.ofMinutes(10);

  public static Lifetime of(X509Certificate certificate) {
    return new Lifetime(certificate.getNotBefore().toInstant(), certificate.getNotAfter().toInstant());
  }

  /** The lifetime of what is made now, to end after that long, but not later than the other. */
  public static Lifetime from(Instant now, Duration life, Instant latest) {
    Instant end = now.plus(life);
    return new Lifetime(now.minus(BACKDATED), end.isBefore(latest) ? end : latest);
  }

  /** When it was made, if it was made here. */
  public Instant madeAt() {
    return begin.plus(BACKDATED);
  }

  /** When a third of it is left. */
  public Instant renewal() {
    return end.minus(Duration.between(begin, end).dividedBy(3));
  }

  /** Whether it was made by a clock that was ahead, and nobody trusts it now. */
  public boolean isYetToBegin(Instant now) {
    return now.isBefore(begin);
  }

  public boolean isOver(Instant now) {
    return !now.isBefore(end);
  }

  /** For people. */
  public String words() {
    return "valid from " + begin + " until " + end;
  }
}
