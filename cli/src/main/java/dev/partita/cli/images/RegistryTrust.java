package dev.partita.cli.images;

import java.security.cert.CertPathBuilderException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

/** Why no connection to a registry was made that can be trusted, and what to do. */
final class RegistryTrust {
  /** A chain of causes may be a ring. */
  private static final int DEEPEST = 20;

  /** How Jib names it. */
  private static final Pattern SERVER = Pattern.compile("the server at https?://([^/\\s]+)");

  private RegistryTrust() {}

  /** Empty where that is not what failed. */
  static Optional<String> problem(Throwable failure) {
    List<Throwable> chain =
        Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(DEEPEST).toList();
    return chain.stream().filter(SSLException.class::isInstance).findFirst().map(tls -> {
      Matcher named = SERVER.matcher(String.valueOf(failure.getMessage()));
      String server = named.find() ? named.group(1) : "a registry";
      return chain.stream().anyMatch(CertPathBuilderException.class::isInstance)
          ? ("the certificate of %s is not trusted by this JDK: import its CA (%s/bin/keytool -importcert -cacerts"
              + " -file CA.pem), or name a trust store that has it"
              + " (JDK_JAVA_OPTIONS=-Djavax.net.ssl.trustStore=FILE). --insecure would not check it")
              .formatted(server, System.getProperty("java.home"))
          : "%s cannot be asked by TLS (%s)".formatted(server, tls.getMessage()) + (isWithoutTls(tls)
              ? ". --insecure asks it without a look at its certificate, or over HTTP"
              : "");
    });
  }

  /** Whether its certificate is another host's, or it does not speak TLS; a connection may be cut for other reasons. */
  private static boolean isWithoutTls(Throwable tls) {
    return tls instanceof SSLPeerUnverifiedException
        || String.valueOf(tls.getMessage()).contains("Unsupported or unrecognized SSL message");
  }
}
