package dev.partita.controller.certificate;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemWriter;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes certificates and keys as text. What cannot be read counts as missing; whoever wrote it learns that
 * from what it is replaced by.
 */
final class Pem {
  private Pem() {}

  static String certificates(List<X509Certificate> certificates) {
    StringWriter text = new StringWriter();
    try (PemWriter pem = new PemWriter(text)) {
      for (X509Certificate certificate : certificates) {
        pem.writeObject(new PemObject("CERTIFICATE", certificate.getEncoded()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (CertificateException e) {
      throw new IllegalArgumentException("a certificate without an encoding", e);
    }
    return text.toString();
  }

  /** As PKCS #8. */
  static String key(PrivateKey key) {
    StringWriter text = new StringWriter();
    try (PemWriter pem = new PemWriter(text)) {
      pem.writeObject(new PemObject("PRIVATE KEY", key.getEncoded()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /** Every certificate, in order; none if anything there cannot be read. */
  static List<X509Certificate> readCertificates(String text) {
    try {
      return parsed(text);
    } catch (IOException | CertificateException | RuntimeException e) {
      return List.of();
    }
  }

  /** Why no certificate can be read from it; empty if one can. */
  static Optional<String> certificateProblem(String text) {
    try {
      return parsed(text).isEmpty() ? Optional.of("there is none") : Optional.empty();
    } catch (IOException | CertificateException | RuntimeException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private static List<X509Certificate> parsed(String text) throws IOException, CertificateException {
    List<X509Certificate> certificates = new ArrayList<>();
    try (PEMParser parser = new PEMParser(new StringReader(text))) {
      for (@Nullable Object each = parser.readObject(); each != null; each = parser.readObject()) {
        if (each instanceof X509CertificateHolder holder) {
          certificates.add(new JcaX509CertificateConverter().getCertificate(holder));
        }
      }
    }
    return certificates;
  }

  /**
   * The first private key: PKCS #8, or as OpenSSL and cert-manager write them by default; empty if there is none that
   * can be read.
   */
  static Optional<PrivateKey> readKey(String text) {
    try (PEMParser parser = new PEMParser(new StringReader(text))) {
      for (@Nullable Object each = parser.readObject(); each != null; each = parser.readObject()) {
        if (each instanceof PEMKeyPair pair) {
          return Optional.of(new JcaPEMKeyConverter().getPrivateKey(pair.getPrivateKeyInfo()));
        }
        if (each instanceof PrivateKeyInfo key) {
          return Optional.of(new JcaPEMKeyConverter().getPrivateKey(key));
        }
      }
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }
}
