package dev.partita.controller.selector;

import static dev.partita.controller.selector.Devices.SHARED;
import static dev.partita.controller.selector.Devices.WHOLE;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceSelectorsTest {
  private final DeviceSelectors selectors = new DeviceSelectors();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "device.driver == \"gpu.partita.dev\"",
        "device.driver == 'gpu.partita.dev' && device.attributes['gpu.partita.dev'].mode == 'shared'",
        "device.allowMultipleAllocations",
        "device.allowMultipleAllocations == true",
        "device.attributes[\"gpu.partita.dev\"].model == \"h200\"",
        "device.attributes[\"gpu.partita.dev\"].productName.startsWith(\"NVIDIA\")",
        "device.attributes[\"gpu.partita.dev\"].productName.lowerAscii().contains(\"h200\")",
        "device.attributes[\"gpu.partita.dev\"].model in [\"h100\", \"h200\"]",
        "device.attributes[\"gpu.partita.dev\"].model.matches(\"^h[0-9]+$\")",
        "device.attributes[\"gpu.partita.dev\"].index == 0",
        "device.attributes[\"resource.kubernetes.io\"].numaNode == 0",
        "device.attributes[\"resource.kubernetes.io\"].pcieRoot == \"pci0000:00\"",
        "\"model\" in device.attributes[\"gpu.partita.dev\"]",
        "!(\"colour\" in device.attributes[\"gpu.partita.dev\"])",
        "!has(device.attributes[\"gpu.example.com\"].model)",
        "has(device.attributes[\"gpu.partita.dev\"].model)",
        "device.attributes[\"gpu.partita.dev\"].?colour.orValue(\"none\") == \"none\"",
        "device.capacity[\"gpu.partita.dev\"].memory == quantity(\"140Gi\")",
        "device.capacity[\"gpu.partita.dev\"].memory == quantity(\"143360Mi\")",
        "device.capacity[\"gpu.partita.dev\"].memory.isGreaterThan(quantity(\"100Gi\"))",
        "device.capacity[\"gpu.partita.dev\"].memory.isLessThan(quantity(\"1Ti\"))",
        "device.capacity[\"gpu.partita.dev\"].memory.compareTo(quantity(\"40Gi\")) >= 0",
        "device.capacity[\"gpu.partita.dev\"].cores.asInteger() == 100",
        "device.capacity[\"gpu.partita.dev\"].memory.sub(quantity(\"40Gi\")).compareTo(quantity(\"100Gi\")) == 0",
        "device.capacity[\"gpu.partita.dev\"].cores.add(5).asInteger() == 105",
        "isQuantity(\"8Gi\") && !isQuantity(\"eight\")",
        "device.attributes[\"gpu.partita.dev\"].driverVersion.isGreaterThan(semver(\"550.0.0\"))",
        "device.attributes[\"gpu.partita.dev\"].driverVersion == semver(\"580.95.5\")",
        "device.attributes[\"gpu.partita.dev\"].driverVersion.major() == 580",
        "device.attributes[\"gpu.partita.dev\"].cudaComputeCapability.compareTo(semver(\"9.0.0\")) == 0",
        "semver(\"v1.2\", true) == semver(\"1.2.0\")",
        "\"gpu.partita.dev\" in device.attributes && !(\"gpu.example.com\" in device.attributes)",
        "\"resource.kubernetes.io\" in device.attributes && \"gpu.partita.dev\" in device.capacity",
        "!(\"gpu.example.com\" in device.capacity) && 1 in {1: 2} && !(3 in {1: 2})",
        "cel.bind(attrs, device.attributes[\"gpu.partita.dev\"], attrs.model == \"h200\" && attrs.type == \"gpu\")",
      })
  void holdsAsItDoesInKubernetes(String expression) {
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  /** The examples of k8s.io/apiserver/pkg/cel/library. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6",
        "isIP('127.0.0.1') && isIP('::1') && !isIP('127.0.0.256') && !isIP(':::1') && !isIP('010.0.0.1') && !isIP('fe80::1%eth0')",
        "!isIP('::ffff:1.2.3.4') && !isIP('1.2.3') && !isIP('localhost') && !isIP('')",
        "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD') && !ip.isCanonical('2001:db8::0:0:0:abcd')",
        "ip.isCanonical('::') && ip.isCanonical('1::') && ip.isCanonical('1:0:2:3:4:5:6:7') && ip.isCanonical('1:0:0:2::3') && !ip.isCanonical('1::2:0:0:0:3')",
        "ip('0.0.0.0').isUnspecified() && !ip('127.0.0.1').isUnspecified() && ip('::').isUnspecified()",
        "ip('127.0.0.1').isLoopback() && ip('::1').isLoopback() && !ip('192.168.0.1').isLoopback()",
        "ip('224.0.0.1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast()",
        "ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast() && !ip('fd80::1').isLinkLocalUnicast()",
        "ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast() && !ip('ff00::1').isGlobalUnicast()",
        "string(ip('2001:DB8:0:0:0:0:0:ABCD')) == '2001:db8::abcd' && ip('2001:db8::1') == ip('2001:DB8::0:1')",
        "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && !cidr('192.168.0.0/24').containsIP('192.168.1.1')",
        "cidr('192.168.0.0/16').containsCIDR(cidr('192.168.10.0/24')) && !cidr('192.168.1.0/24').containsCIDR('192.168.2.0/24')",
        "!cidr('192.168.0.0/24').containsCIDR('192.168.0.0/16') && !cidr('0.0.0.0/0').containsIP('::1')",
        "cidr('192.168.0.1/24').ip() == ip('192.168.0.1') && cidr('::1/128').ip().family() == 6 && cidr('::1/128').prefixLength() == 128",
        "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24') && cidr('192.168.0.1/24') != cidr('192.168.0.1/24').masked()",
        "isCIDR('::1/128') && !isCIDR('192.168.0.0/33') && !isCIDR('::1/129') && !isCIDR('10.0.0.0') && !isCIDR('10.0.0.0/08')",
        "string(cidr('2001:db8::ffff/33').masked()) == '2001:db8::/33'",
        "isURL('https://user:pass@example.com:80/path?query=val#fragment') && isURL('/absolute-path')",
        "!isURL('https://a:b:c/') && !isURL('../relative-path') && !isURL('') && !isURL('https://exa mple.com/') && !isURL('https://h/%zz')",
        "url('/path').getScheme() == '' && url('https://example.com/').getScheme() == 'https' && url('/path').getHost() == ''",
        "url('https://example.com:80/').getHost() == 'example.com:80' && url('https://[::1]:80/').getHost() == '[::1]:80'",
        "url('https://[::1]:80/').getHostname() == '::1' && url('https://127.0.0.1:80/').getHostname() == '127.0.0.1' && url('https://[::1]/').getPort() == ''",
        "url('https://example.com:80/').getPort() == '80' && url('https://example.com/').getPort() == '' && url('https://example.com').getEscapedPath() == ''",
        "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'",
        "url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
        "url('https://example.com/path?key with spaces=value with spaces').getQuery() == {'key with spaces': ['value with spaces']}",
        "url('https://example.com/path?').getQuery() == {} && url('https://example.com/p#f').getEscapedPath() == '/p'",
        "'abc 123'.find('[0-9]+') == '123' && 'abc 123'.find('xyz') == ''",
        "'123 abc 456'.findAll('[0-9]+') == ['123', '456'] && '123 abc 456'.findAll('[0-9]+', 1) == ['123'] && '123'.findAll('x') == []",
        "device.attributes['gpu.partita.dev'].productName.find('H[0-9]+') == 'H200'",
        "!format.dns1123Label().validate('my-label-name').hasValue() && format.dns1123Label().validate('My').hasValue()",
        "!format.dns1123Subdomain().validate('apiextensions.k8s.io').hasValue() && format.dns1035Label().validate('1a').hasValue()",
        "!format.qualifiedName().validate('apiextensions.k8s.io/v1beta1').hasValue() && format.qualifiedName().validate('/x').hasValue()",
        "!format.dns1123LabelPrefix().validate('my-label-prefix-').hasValue() && format.dns1123Label().validate('my-label-prefix-').hasValue()",
        "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue() && format.uuid().validate('123').hasValue()",
        "!format.byte().validate('aGVsbG8=').hasValue() && !format.date().validate('2021-01-01').hasValue() && format.date().validate('2021-02-30').hasValue()",
        "!format.datetime().validate('2021-01-01T00:00:00Z').hasValue() && format.datetime().validate('2021-01-01').hasValue()",
        "!format.uri().validate('http://example.com').hasValue() && format.labelValue().validate('a b').value().size() == 1",
        "format.named('uuid').hasValue() && !format.named('colour').hasValue()",
      })
  void kubernetesOwnFunctionsMeanTheSame(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"ip('1.2.3')", "cidr('10.0.0.0')", "url('../x')", "'a'.find('(')", "semver('1')", "quantity('x')"})
  void whatTheyCannotReadFails(String call) {
    String expression = call + " == " + call;
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isInstanceOf(Verdict.Failed.class);
  }

  @Test
  void aTextThatGrowsWithoutBoundReachesTheLimitOfCosts() {
    StringBuilder expression = new StringBuilder("cel.bind(a0, \"0123456789\"");
    for (int i = 1; i <= 40; i++) {
      expression.append(", cel.bind(a").append(i).append(", a").append(i - 1).append(" + a").append(i - 1);
    }
    expression.append(", a40.size() > 0").append(")".repeat(41));
    assertThat(selectors.evaluate(expression.toString(), SHARED))
        .isInstanceOfSatisfying(Verdict.Failed.class,
            failed -> assertThat(failed.error()).contains("more than 100000 characters"));
  }

  @Test
  void aWholeCardIsNotShareable() {
    assertThat(selectors.evaluate("device.allowMultipleAllocations", WHOLE)).isEqualTo(Verdict.FALSE);
    assertThat(selectors.evaluate("device.attributes[\"gpu.partita.dev\"].mode == \"whole\"", WHOLE))
        .isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "device.attributes[\"gpu.partita.dev\"].colour == \"red\"",
        "device.attributes[\"gpu.example.com\"].model == \"h200\"",
        "device.capacity[\"gpu.partita.dev\"].bandwidth.isGreaterThan(quantity(\"1\"))",
        "device.attributes[\"gpu.partita.dev\"].model.isGreaterThan(semver(\"1.0.0\"))",
        "semver(\"580.95.05\") == semver(\"580.95.5\")",
        "quantity(\"lots\").isInteger()",
        "device.attributes[\"gpu.partita.dev\"].model",
        "1 / (device.attributes[\"gpu.partita.dev\"].index) > 0",
      })
  void whatFailsAtRunTimeIsSaidAndNotThrown(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isInstanceOf(Verdict.Failed.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"device.driver ==", "devise.driver == \"x\"", "device.driver.frobnicate()", "\"text\"", "42",
        "ip(\"1.2.3.4\") == x"})
  void whatDoesNotCompileIsSaid(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isPresent();
    assertThat(selectors.evaluate(expression, SHARED)).isInstanceOf(Verdict.Failed.class);
  }

  @Test
  void aComprehensionThatWouldRunForEverEnds() {
    String many = "[0,1,2,3,4,5,6,7,8,9]";
    String expression = "%s.all(a, %s.all(b, %s.all(c, %s.all(d, %s.all(e, %s.all(f, a + b + c + d + e + f >= 0))))))"
        .formatted(many, many, many, many, many, many);
    assertThat(selectors.evaluate(expression, SHARED)).isInstanceOf(Verdict.Failed.class);
  }
}
