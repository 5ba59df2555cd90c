package dev.partita.serving.certificate;

import java.net.Socket;
import java.security.KeyManagementException;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Holds the certificate and key that connections are served with. They can be exchanged at any time; each connection
 * has one certificate with its own key. As long as there is none, handshakes fail.
 */
public final class ServingKeys extends X509ExtendedKeyManager {
  private record Generation(String alias, KeyedCertificate keyed) {}

  private volatile @Nullable Generation now;
  private volatile @Nullable Generation before;

  /** Serves new connections with this from now on. */
  public synchronized void use(KeyedCertificate keyed) {
    before = now;
    now = new Generation("serial-" + keyed.certificate().getSerialNumber(), keyed);
  }

  /** Whether there is anything to serve with. */
  public boolean isThere() {
    return now != null;
  }

  /** Whether a connection was made with what is served with now. */
  public boolean areOf(SSLSession session) {
    @Nullable Generation current = now;
    Certificate @Nullable [] shown = session.getLocalCertificates();
    return current != null && shown != null && shown.length > 0 && shown[0].equals(current.keyed().certificate());
  }

  /** A context that goes along with every exchange. */
  public SSLContext context() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(new KeyManager[]{this}, null, null);
      return context;
    } catch (NoSuchAlgorithmException | KeyManagementException e) {
      throw new IllegalStateException("every Java platform has TLS", e);
    }
  }

  @Override
  public @Nullable String chooseEngineServerAlias(String keyType, Principal @Nullable [] issuers, SSLEngine engine) {
    return chooseServerAlias(keyType, issuers, null);
  }

  @Override
  public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    @Nullable Generation current = now;
    return current != null && current.keyed().key().getAlgorithm().equals(keyType) ? current.alias() : null;
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    @Nullable Generation found = find(alias);
    return found == null ? null : found.keyed().chain().toArray(X509Certificate[]::new);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    @Nullable Generation found = find(alias);
    return found == null ? null : found.keyed().key();
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    @Nullable String alias = chooseServerAlias(keyType, issuers, null);
    return alias == null ? null : new String[]{alias};
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyTypes,
      Principal @Nullable [] issuers,
      @Nullable Socket socket) {
    return null;
  }

  /** A handshake that chose its alias before an exchange ends with what it chose. */
  private @Nullable Generation find(String alias) {
    @Nullable Generation current = now;
    @Nullable Generation previous = before;
    if (current != null && current.alias().equals(alias)) {
      return current;
    }
    return previous != null && previous.alias().equals(alias) ? previous : null;
  }
}
