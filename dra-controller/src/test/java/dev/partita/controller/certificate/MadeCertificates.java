package dev.partita.controller.certificate;

import dev.partita.serving.certificate.CertificateAuthority;
import dev.partita.serving.certificate.KeyedCertificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/** An authority and a serving certificate, made now. */
public final class MadeCertificates {
  private final CertificateAuthority authority = CertificateAuthority.make(Instant.now());
  private final KeyedCertificate serving;

  /** For that name. */
  public MadeCertificates(String dnsName) {
    serving = authority.issue(dnsName, Instant.now());
  }

  public KeyedCertificate serving() {
    return serving;
  }

  /** What who is to trust it trusts. */
  public List<X509Certificate> trusted() {
    return List.of(authority.certificate());
  }
}
