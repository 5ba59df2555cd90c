package dev.partita.serving.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.util.stream.Stream;

/**
 * Lets the JVM look up no name of an address; names are still resolved to addresses. {@code
 * com.sun.net.httpserver.HttpsServer} asks DNS for the name of each peer before the TLS handshake (JDK 25, {@code
 * sun.net.httpserver.SSLStreams}). Where DNS answers slowly or not at all, an API server would give up on the admission
 * webhooks. Loaded by {@link java.util.ServiceLoader}.
 */
public final class AddressesWithoutNames extends InetAddressResolverProvider {
  @Override
  public InetAddressResolver get(Configuration configuration) {
    InetAddressResolver builtin = configuration.builtinResolver();
    return new InetAddressResolver() {
      @Override
      public Stream<InetAddress> lookupByName(String host, LookupPolicy policy) throws UnknownHostException {
        return builtin.lookupByName(host, policy);
      }

      @Override
      public String lookupByAddress(byte[] address) throws UnknownHostException {
        return InetAddress.getByAddress(address).getHostAddress();
      }
    };
  }

  @Override
  public String name() {
    return "addresses without names";
  }
}
