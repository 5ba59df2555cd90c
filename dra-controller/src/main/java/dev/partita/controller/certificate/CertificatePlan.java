package dev.partita.controller.certificate;

import dev.partita.serving.certificate.CertificateAuthority;
import dev.partita.serving.certificate.KeyedCertificate;
import dev.partita.serving.certificate.Lifetime;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Decides what is due for the webhook's certificates. It needs nothing but the Secret and what the webhook
 * configurations trust, so that the next leader goes on where the last one stopped.
 *
 * <p>A new authority is trusted beside the old one before anything that it has signed is served; the old one is trusted
 * until it expires. So no API server ever meets a certificate that it does not trust.
 */
final class CertificatePlan {
  /**
   * How long API servers have to see a webhook configuration before it counts that they know it: they watch them, and
   * see them within a second as a rule.
   */
  static final Duration SPREAD = Duration.ofMinutes(1);

  private static final int DNS_NAME = 2;

  private CertificatePlan() {}

  /**
   * @param trusted whether the webhook configurations trust the present authority
   * @param dnsName what the certificate must be for
   */
  static CertificateStep next(CertificateState state, boolean trusted, String dnsName, Instant now) {
    if (state.authority().isEmpty()) {
      return new CertificateStep.NewAuthority(
          state.bundle().isEmpty() ? "there is none" : "the key of the present one is gone");
    }
    X509Certificate authority = state.authority().get().certificate();
    Lifetime ofAuthority = Lifetime.of(authority);
    if (ofAuthority.isYetToBegin(now)) {
      return new CertificateStep.NewAuthority(
          "the present one begins in the future, " + ofAuthority.begin() + ": a clock was ahead");
    }
    if (!now.isBefore(ofAuthority.renewal())) {
      return new CertificateStep.NewAuthority(
          "a third of the present one's life is left, it ends " + ofAuthority.end());
    }
    if (state.bundle().stream().anyMatch(ca -> Lifetime.of(ca).isOver(now))) {
      return new CertificateStep.ForgetOver();
    }
    Optional<X509Certificate> serving = state.serving().map(KeyedCertificate::certificate);
    if (serving.isEmpty()) {
      return new CertificateStep.NewServing("there is none");
    }
    Lifetime ofServing = Lifetime.of(serving.get());
    if (ofServing.isOver(now)) {
      return new CertificateStep.NewServing("the present one is over");
    }
    if (ofServing.isYetToBegin(now)) {
      return new CertificateStep.NewServing(
          "the present one begins in the future, " + ofServing.begin() + ": a clock was ahead");
    }
    if (state.bundle().stream().noneMatch(ca -> CertificateAuthority.vouches(ca, serving.get()))) {
      return new CertificateStep.NewServing("nobody who is trusted vouches for the present one");
    }
    Optional<String> due = due(serving.get(), ofServing, authority, dnsName, now);
    if (due.isEmpty()) {
      return new CertificateStep.Wait(
          Stream
              .concat(Stream.of(ofServing.renewal(), ofAuthority.renewal()),
                  state.bundle().stream().map(ca -> Lifetime.of(ca).end()))
              .min(Instant::compareTo)
              .orElseThrow());
    }
    Instant known = ofAuthority.madeAt().plus(SPREAD);
    return trusted && !now.isBefore(known)
        ? new CertificateStep.NewServing(due.get())
        : new CertificateStep.Wait(known.isAfter(now) ? known : now.plus(SPREAD));
  }

  private static Optional<String> due(
      X509Certificate serving,
      Lifetime life,
      X509Certificate authority,
      String dnsName,
      Instant now) {
    if (!CertificateAuthority.vouches(authority, serving)) {
      return Optional.of("the present one was signed by an earlier authority");
    }
    if (!dnsNames(serving).contains(dnsName)) {
      return Optional.of("the present one is not for " + dnsName);
    }
    return now.isBefore(life.renewal())
        ? Optional.empty()
        : Optional.of("a third of the present one's life is left, it ends " + life.end());
  }

  private static List<String> dnsNames(X509Certificate certificate) {
    try {
      return Objects.requireNonNullElse(certificate.getSubjectAlternativeNames(), List.<List<?>>of()).stream()
          .filter(name -> Integer.valueOf(DNS_NAME).equals(name.get(0)))
          .map(name -> String.valueOf(name.get(1)))
          .toList();
    } catch (CertificateParsingException e) {
      return List.of();
    }
  }
}
