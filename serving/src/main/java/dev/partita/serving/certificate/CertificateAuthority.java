package dev.partita.serving.certificate;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * A certificate authority of ours, which vouches for what servers of one cluster serve with. Keys are on the curve
 * P-256, which every TLS library knows.
 *
 * @param keyed its certificate, signed by itself
 */
public record CertificateAuthority(KeyedCertificate keyed) {
  /** How long an authority lives. */
  public static final Duration LIFE = Duration.ofDays(1095);

  /** How long a serving certificate lives, unless its authority ends before. */
  public static final Duration SERVING_LIFE = Duration.ofDays(90);

  private static final String SIGNATURE = "SHA256withECDSA";
  private static final int SERIAL_BITS = 127;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Makes one. */
  public static CertificateAuthority make(Instant now) {
    KeyPair keys = keys();
    BigInteger serial = serial();
    // The serial is part of the name, so that nobody takes an authority for its successor.
    X500Name name = new X500Name("CN=partita-ca-" + serial.toString(16).substring(0, 8));
    Lifetime lifetime = Lifetime.from(now, LIFE, Instant.MAX);
    try {
      X509v3CertificateBuilder certificate = builder(name, serial, lifetime, name, keys.getPublic());
      certificate.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
      certificate.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
      certificate.addExtension(Extension.subjectKeyIdentifier, false,
          new JcaX509ExtensionUtils().createSubjectKeyIdentifier(keys.getPublic()));
      return new CertificateAuthority(
          new KeyedCertificate(List.of(signed(certificate, keys.getPrivate())), keys.getPrivate()));
    } catch (CertIOException | GeneralSecurityException | OperatorCreationException e) {
      throw new IllegalStateException("no certificate authority can be made", e);
    }
  }

  /** Makes a serving certificate. */
  public KeyedCertificate issue(String dnsName, Instant now) {
    KeyPair keys = keys();
    Lifetime lifetime = Lifetime.from(now, SERVING_LIFE, Lifetime.of(certificate()).end());
    try {
      // byte by byte: Go compares so
      X500Name issuer = X500Name.getInstance(certificate().getSubjectX500Principal().getEncoded());
      X509v3CertificateBuilder serving =
          builder(issuer, serial(), lifetime, new X500Name("CN=partita"), keys.getPublic());
      JcaX509ExtensionUtils extensions = new JcaX509ExtensionUtils();
      serving.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
      serving.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
      serving.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
      serving.addExtension(Extension.subjectAlternativeName, false,
          new GeneralNames(new GeneralName(GeneralName.dNSName, dnsName)));
      serving.addExtension(Extension.authorityKeyIdentifier, false,
          extensions.createAuthorityKeyIdentifier(certificate()));
      serving.addExtension(Extension.subjectKeyIdentifier, false,
          extensions.createSubjectKeyIdentifier(keys.getPublic()));
      return new KeyedCertificate(List.of(signed(serving, keyed.key())), keys.getPrivate());
    } catch (CertIOException | GeneralSecurityException | OperatorCreationException e) {
      throw new IllegalStateException("no serving certificate can be made", e);
    }
  }

  public X509Certificate certificate() {
    return keyed.certificate();
  }

  /** Whether the first has signed the second. */
  public static boolean vouches(X509Certificate authority, X509Certificate other) {
    try {
      other.verify(authority.getPublicKey());
      return true;
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  /** Whether the private key is that of the certificate. */
  public static boolean isPair(X509Certificate certificate, PrivateKey key) {
    try {
      String algorithm =
          switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC", "ECDSA" -> SIGNATURE;
            default -> key.getAlgorithm(); // Ed25519 signs under its own name
          };
      byte[] proof = "partita".getBytes(java.nio.charset.StandardCharsets.UTF_8);
      java.security.Signature signature = java.security.Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(proof);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(proof);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private static X509v3CertificateBuilder builder(
      X500Name issuer,
      BigInteger serial,
      Lifetime lifetime,
      X500Name subject,
      PublicKey key) {
    return new JcaX509v3CertificateBuilder(issuer, serial, Date.from(lifetime.begin()), Date.from(lifetime.end()),
        subject, key);
  }

  private static X509Certificate signed(X509v3CertificateBuilder certificate, PrivateKey by)
      throws OperatorCreationException, CertificateException {
    return new JcaX509CertificateConverter()
        .getCertificate(certificate.build(new JcaContentSignerBuilder(SIGNATURE).build(by)));
  }

  private static BigInteger serial() {
    return new BigInteger(SERIAL_BITS, RANDOM).setBit(SERIAL_BITS);
  }

  private static KeyPair keys() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"), RANDOM);
      return generator.generateKeyPair();
    } catch (NoSuchAlgorithmException | InvalidAlgorithmParameterException e) {
      throw new IllegalStateException("every Java platform has P-256", e);
    }
  }
}
