package dev.partita.serving.certificate;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * A certificate that this process can prove to own.
 *
 * @param chain its own first, then those of the authorities that vouch for it; never empty
 * @param key its private key
 */
public record KeyedCertificate(List<X509Certificate> chain, PrivateKey key) {
  public KeyedCertificate {
    chain = List.copyOf(chain);
    if (chain.isEmpty()) {
      throw new IllegalArgumentException("a key without a certificate");
    }
  }

  public X509Certificate certificate() {
    return chain.getFirst();
  }

  /** Without the key. */
  @Override
  public String toString() {
    return Lifetime.of(certificate()).words() + ", serial " + certificate().getSerialNumber().toString(16);
  }
}
