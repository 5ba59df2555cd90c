package dev.partita.serving.certificate;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * A certificate that this process makes for itself and keeps in memory: when the first connection comes, and again when
 * a third of its life is left. Nobody can verify it; it only keeps others from reading what is sent.
 */
public final class OwnCertificate implements Supplier<SSLContext> {
  private final String dnsName;
  private final InstantSource clock;
  private final ServingKeys keys = new ServingKeys();
  private final SSLContext context = keys.context();
  private Instant due = Instant.MIN;

  /** @param dnsName the name in it */
  public OwnCertificate(String dnsName, InstantSource clock) {
    this.dnsName = dnsName;
    this.clock = clock;
  }

  @Override
  public synchronized SSLContext get() {
    Instant now = clock.instant();
    if (!now.isBefore(due)) {
      KeyedCertificate fresh = CertificateAuthority.make(now).issue(dnsName, now);
      keys.use(fresh);
      due = Lifetime.of(fresh.certificate()).renewal();
    }
    return context;
  }
}
