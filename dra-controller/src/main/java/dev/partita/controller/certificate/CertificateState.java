package dev.partita.controller.certificate;

import dev.partita.serving.certificate.CertificateAuthority;
import dev.partita.serving.certificate.KeyedCertificate;
import dev.partita.serving.certificate.Lifetime;
import java.nio.charset.StandardCharsets;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the webhook's Secret holds. The keys {@code tls.crt}, {@code tls.key} and {@code ca.crt} are those of Secrets of
 * type {@code kubernetes.io/tls}.
 *
 * @param authority what serving certificates are signed by; empty if there is none, or its key is gone
 * @param bundle certificates of authorities that are to be trusted, the newest first: the authority's and those of its
 *        predecessors
 * @param serving what is served with; empty if there is none
 */
record CertificateState(
    Optional<CertificateAuthority> authority,
    List<X509Certificate> bundle,
    Optional<KeyedCertificate> serving) {
  static final String TLS_TYPE = "kubernetes.io/tls";
  static final CertificateState EMPTY = new CertificateState(Optional.empty(), List.of(), Optional.empty());

  private static final String CA_CERTIFICATE = "ca.crt";
  private static final String CA_KEY = "ca.key";
  private static final String CERTIFICATE = "tls.crt";
  private static final String KEY = "tls.key";

  CertificateState {
    bundle = List.copyOf(bundle);
  }

  /** Reads a Secret's {@code data}; what cannot be read, or does not belong together, is not there. */
  static CertificateState read(@Nullable Map<String, String> data) {
    Map<String, String> given = data == null ? Map.of() : data;
    List<X509Certificate> bundle = Pem.readCertificates(text(given, CA_CERTIFICATE));
    Optional<CertificateAuthority> authority =
        keyed(bundle.stream().limit(1).toList(), text(given, CA_KEY)).map(CertificateAuthority::new);
    return new CertificateState(authority, bundle,
        keyed(Pem.readCertificates(text(given, CERTIFICATE)), text(given, KEY)));
  }

  /** Why a Secret's {@code data} have nothing to serve with; empty if they do, or nobody has filled them yet. */
  static Optional<String> problem(@Nullable Map<String, String> data) {
    Map<String, String> given = data == null ? Map.of() : data;
    if (given.isEmpty() || read(given).serving().isPresent()) {
      return Optional.empty();
    }
    Optional<String> certificate = Pem.certificateProblem(text(given, CERTIFICATE))
        .map(why -> CERTIFICATE + " holds no certificate that Java reads: " + why);
    String key = Pem.readKey(text(given, KEY)).isEmpty()
        ? KEY + " holds no key that Java reads"
        : KEY + " is not the key of " + CERTIFICATE;
    return Optional.of(certificate.orElse(key));
  }

  /** The Secret's {@code data}. */
  Map<String, String> data() {
    Map<String, String> data = new LinkedHashMap<>();
    data.put(CA_CERTIFICATE, base64(Pem.certificates(bundle)));
    authority.ifPresent(ca -> data.put(CA_KEY, base64(Pem.key(ca.keyed().key()))));
    serving.ifPresent(
        keyed -> {
          data.put(CERTIFICATE, base64(Pem.certificates(keyed.chain())));
          data.put(KEY, base64(Pem.key(keyed.key())));
        });
    return data;
  }

  /** What goes into the webhook configurations. */
  String caBundle() {
    return base64(Pem.certificates(bundle));
  }

  /** The same with another authority, beside which the earlier ones are still trusted. */
  CertificateState with(CertificateAuthority next) {
    List<X509Certificate> trusted = new ArrayList<>();
    trusted.add(next.certificate());
    trusted.addAll(bundle);
    return new CertificateState(Optional.of(next), trusted, serving);
  }

  CertificateState with(KeyedCertificate next) {
    return new CertificateState(authority, bundle, Optional.of(next));
  }

  /** The same without authorities that are over. */
  CertificateState withoutOver(Instant now) {
    return new CertificateState(authority, bundle.stream().filter(ca -> !Lifetime.of(ca).isOver(now)).toList(),
        serving);
  }

  /** Without keys. */
  @Override
  public String toString() {
    return bundle.size() + " trusted authorities, serving certificate "
        + serving.map(KeyedCertificate::toString).orElse("none");
  }

  private static Optional<KeyedCertificate> keyed(List<X509Certificate> chain, String key) {
    Optional<PrivateKey> read = Pem.readKey(key);
    return chain.isEmpty() || read.isEmpty() || !CertificateAuthority.isPair(chain.getFirst(), read.get())
        ? Optional.empty()
        : Optional.of(new KeyedCertificate(chain, read.get()));
  }

  private static String text(Map<String, String> data, String key) {
    try {
      return new String(Base64.getDecoder().decode(data.getOrDefault(key, "")), StandardCharsets.US_ASCII);
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
  }
}
