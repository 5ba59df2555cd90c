package dev.partita.controller.selector.functions;

import static dev.partita.controller.selector.functions.CelFunctions.Type.CIDR;
import static dev.partita.controller.selector.functions.CelFunctions.Type.IP;
import static dev.partita.controller.selector.functions.CelFunctions.Type.TEXT;
import static dev.partita.controller.selector.functions.CelFunctions.Type.URL;

import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.partita.controller.selector.values.Cidr;
import dev.partita.controller.selector.values.IpAddress;
import dev.partita.controller.selector.values.Url;

/**
 * The ip, cidr and url functions that Kubernetes adds to CEL (k8s.io/apiserver/pkg/cel/library, ip.go, cidr.go and
 * urls.go), with the same names and meaning.
 */
public final class NetworkFunctions extends CelFunctions {
  public NetworkFunctions() {
    addresses();
    networks();
    urls();
  }

  private void addresses() {
    global("ip", IP.cel(), TEXT, NetworkFunctions::ip);
    global("isIP", SimpleType.BOOL, TEXT, text -> IpAddress.parse(text).isPresent());
    global("ip.isCanonical", SimpleType.BOOL, TEXT, text -> ip(text).toString().equals(text));
    global("string", SimpleType.STRING, IP, IpAddress::toString);
    member("family", SimpleType.INT, IP, address -> (long) address.family());
    member("isUnspecified", SimpleType.BOOL, IP, address -> address.address().isAnyLocalAddress());
    member("isLoopback", SimpleType.BOOL, IP, address -> address.address().isLoopbackAddress());
    member("isLinkLocalMulticast", SimpleType.BOOL, IP, address -> address.address().isMCLinkLocal());
    member("isLinkLocalUnicast", SimpleType.BOOL, IP, address -> address.address().isLinkLocalAddress());
    member("isGlobalUnicast", SimpleType.BOOL, IP, IpAddress::isGlobalUnicast);
  }

  private void networks() {
    global("cidr", CIDR.cel(), TEXT, NetworkFunctions::cidr);
    global("isCIDR", SimpleType.BOOL, TEXT, text -> Cidr.parse(text).isPresent());
    global("string", SimpleType.STRING, CIDR, Cidr::toString);
    member("containsIP", SimpleType.BOOL, CIDR, TEXT, (cidr, text) -> cidr.contains(ip(text)));
    member("containsIP", SimpleType.BOOL, CIDR, IP, Cidr::contains);
    member("containsCIDR", SimpleType.BOOL, CIDR, TEXT, (cidr, text) -> cidr.contains(cidr(text)));
    member("containsCIDR", SimpleType.BOOL, CIDR, CIDR, Cidr::contains);
    member("ip", IP.cel(), CIDR, Cidr::address);
    member("masked", CIDR.cel(), CIDR, Cidr::masked);
    member("prefixLength", SimpleType.INT, CIDR, cidr -> (long) cidr.prefix());
  }

  private void urls() {
    global("url", URL.cel(), TEXT,
        text -> Url.parse(text).orElseThrow(() -> new IllegalArgumentException("not a URL: \"" + text + "\"")));
    global("isURL", SimpleType.BOOL, TEXT, Url::isRequest);
    member("getScheme", SimpleType.STRING, URL, Url::scheme);
    member("getHost", SimpleType.STRING, URL, Url::host);
    member("getHostname", SimpleType.STRING, URL, Url::hostname);
    member("getPort", SimpleType.STRING, URL, Url::port);
    member("getEscapedPath", SimpleType.STRING, URL, Url::escapedPath);
    member("getQuery", MapType.create(SimpleType.STRING, Type.TEXTS), URL, Url::parameters);
  }

  private static IpAddress ip(String text) {
    return IpAddress.parse(text).orElseThrow(() -> new IllegalArgumentException("not an IP address: \"" + text + "\""));
  }

  private static Cidr cidr(String text) {
    return Cidr.parse(text)
        .orElseThrow(() -> new IllegalArgumentException("not a network in CIDR notation: \"" + text + "\""));
  }
}
