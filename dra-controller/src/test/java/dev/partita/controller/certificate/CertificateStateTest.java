package dev.partita.controller.certificate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.serving.certificate.CertificateAuthority;
import dev.partita.serving.certificate.KeyedCertificate;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.cert.CertificateParsingException;
import java.security.interfaces.ECPrivateKey;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x500.RDN;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemWriter;
import org.junit.jupiter.api.Test;

class CertificateStateTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final CertificateAuthority authority = CertificateAuthority.make(NOW);
  private final KeyedCertificate serving = authority.issue("a.b.svc", NOW);
  private final CertificateState whole = CertificateState.EMPTY.with(authority).with(serving);

  @Test
  void whatIsWrittenIsReadAgain() {
    CertificateState read = CertificateState.read(whole.data());
    assertThat(read.bundle()).isEqualTo(whole.bundle());
    assertThat(read.authority()).isEqualTo(whole.authority());
    assertThat(read.serving()).isEqualTo(whole.serving());
    assertThat(new String(Base64.getDecoder().decode(read.caBundle()), StandardCharsets.US_ASCII))
        .startsWith("-----BEGIN CERTIFICATE-----");
  }

  @Test
  void theCertificateIsForTheServicesNameAndForServingOnly() throws CertificateParsingException {
    var certificate = serving.certificate();
    assertThat(certificate.getSubjectAlternativeNames()).containsExactly(List.of(2, "a.b.svc"));
    assertThat(certificate.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
    assertThat(certificate.getBasicConstraints()).isEqualTo(-1);
    assertThat(authority.certificate().getBasicConstraints()).as("it may sign no further authority").isZero();
    assertThat(certificate.getIssuerX500Principal().getEncoded())
        .isEqualTo(authority.certificate().getSubjectX500Principal().getEncoded());
  }

  @Test
  void whatCannotBeReadOrDoesNotBelongTogetherIsNotThere() {
    assertThat(CertificateState.read(null)).isEqualTo(CertificateState.EMPTY);
    assertThat(CertificateState.read(
        Map.of("tls.crt", "%%%", "tls.key", base64("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))))
        .isEqualTo(CertificateState.EMPTY);
    Map<String, String> mixed = new HashMap<>(whole.data());
    mixed.put("tls.key", mixed.get("ca.key"));
    CertificateState read = CertificateState.read(mixed);
    assertThat(read.serving()).as("another certificate's key").isEmpty();
    assertThat(read.authority()).isPresent();
  }

  @Test
  void whyThereIsNothingToServeWithIsSaid() throws Exception {
    assertThat(CertificateState.problem(null)).as("not filled yet").isEmpty();
    assertThat(CertificateState.problem(whole.data())).isEmpty();
    Map<String, String> data = new HashMap<>(whole.data());
    data.put("tls.key", base64("none"));
    assertThat(CertificateState.problem(data)).contains("tls.key holds no key that Java reads");
    data.put("tls.key", whole.data().get("ca.key"));
    assertThat(CertificateState.problem(data)).contains("tls.key is not the key of tls.crt");
    data.remove("tls.crt");
    assertThat(CertificateState.problem(data)).contains("tls.crt holds no certificate that Java reads: there is none");
    data.put("tls.crt", base64(pem("CERTIFICATE", signedByItselfWithoutAName())));
    assertThat(CertificateState.problem(data).orElseThrow())
        .startsWith("tls.crt holds no certificate that Java reads: ").contains("Empty issuer DN");
  }

  /** What a self-signing issuer of cert-manager makes where neither a common name nor a subject is asked for. */
  private static byte[] signedByItselfWithoutAName() throws Exception {
    KeyPair pair = KeyPairGenerator.getInstance("EC").generateKeyPair();
    X500Name none = new X500Name(new RDN[0]);
    var certificate =
        new JcaX509v3CertificateBuilder(none, BigInteger.ONE, Date.from(NOW), Date.from(NOW), none, pair.getPublic());
    return certificate.build(new JcaContentSignerBuilder("SHA256withECDSA").build(pair.getPrivate())).getEncoded();
  }

  @Test
  void keysAreReadAsOpensslAndCertManagerWriteThem() throws IOException, NoSuchAlgorithmException {
    BigInteger secret = ((ECPrivateKey) serving.key()).getS();
    var sec1 = new org.bouncycastle.asn1.sec.ECPrivateKey(256, secret, SECObjectIdentifiers.secp256r1);
    assertThat(Pem.readKey(pem("EC PRIVATE KEY", sec1.getEncoded())).orElseThrow())
        .isInstanceOfSatisfying(ECPrivateKey.class, key -> assertThat(key.getS()).isEqualTo(secret));
    KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
    rsa.initialize(2048);
    KeyPair pair = rsa.generateKeyPair();
    byte[] pkcs1 =
        PrivateKeyInfo.getInstance(pair.getPrivate().getEncoded()).parsePrivateKey().toASN1Primitive().getEncoded();
    assertThat(Pem.readKey(pem("RSA PRIVATE KEY", pkcs1)).orElseThrow().getEncoded())
        .isEqualTo(pair.getPrivate().getEncoded());
  }

  @Test
  void nothingThatIsPrintedHoldsAKey() {
    String key = Pem.key(serving.key()).lines().skip(1).findFirst().orElseThrow();
    assertThat(List.of(whole.toString(), serving.toString(), authority.toString()).toString()).doesNotContain(key)
        .doesNotContain("PRIVATE");
  }

  private static String pem(String type, byte[] content) throws IOException {
    StringWriter text = new StringWriter();
    try (PemWriter writer = new PemWriter(text)) {
      writer.writeObject(new PemObject(type, content));
    }
    return text.toString();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
  }
}
