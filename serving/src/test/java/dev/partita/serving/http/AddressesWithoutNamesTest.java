package dev.partita.serving.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class AddressesWithoutNamesTest {
  /** Every machine's resolver knows a name of this one. */
  @Test
  void noNameIsLookedUpForAnAddress() throws UnknownHostException {
    InetAddress loopback = InetAddress.getByAddress(new byte[]{127, 0, 0, 1});
    assertThat(new InetSocketAddress(loopback, 443).getHostName()).isEqualTo("127.0.0.1");
  }

  @Test
  void namesAreResolved() throws UnknownHostException {
    assertThat(InetAddress.getByName("localhost").isLoopbackAddress()).isTrue();
  }
}
