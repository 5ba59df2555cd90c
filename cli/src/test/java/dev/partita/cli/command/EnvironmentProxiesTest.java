package dev.partita.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EnvironmentProxiesTest {
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "https://a.example        | proxy.corp:3128         | proxy.corp:3128",
    "https://a.example:6443   | http://proxy.corp:3128/ | proxy.corp:3128",
    "https://a.example        | http://proxy.corp       | proxy.corp:80",
    "https://a.example        | https://proxy.corp      | none",
    "https://a.example        | ' proxy.corp:3128 '     | proxy.corp:3128",
    "https://a.example        | http://jo:pw@proxy.corp:3128     | jo:pw@proxy.corp:3128",
    "https://a.example        | jo:pw@proxy.corp:3128            | jo:pw@proxy.corp:3128",
    "https://a.example        | http://jo:p%40+:w@proxy.corp     | jo:p@+:w@proxy.corp:80",
    "https://a.example        | http://jo:p@w@proxy.corp:1       | jo:p@w@proxy.corp:1",
    "https://a.example        | http://jo@proxy.corp:1           | jo:@proxy.corp:1",
    "https://a.example        | http://jo:%zz@proxy.corp:1       | none",
    "http://a.example         | proxy.corp:3128         | none",
    "https://localhost:6443   | proxy.corp:3128         | none",
    "https://127.0.0.1:6443   | proxy.corp:3128         | none",
    "https://[::1]:6443       | proxy.corp:3128         | none",
    "https://a.example        | socks5://proxy.corp     | none",
    "https://a.example        | ://                     | none",
    "socket://a.example:1     | proxy.corp:3128         | none"})
  void theProxyIsThatOfTheScheme(String address, String proxy, String expected) {
    assertThat(of(Map.of("HTTPS_PROXY", proxy), address)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "https://api.corp:6443   | .corp                 | none",
    "https://corp            | .corp                 | proxy.corp:3128",
    "https://api.corp        | corp                  | none",
    "https://corp            | corp                  | none",
    "https://acorp           | corp                  | proxy.corp:3128",
    "https://API.corp        | '*.Corp'              | none",
    "https://a.example       | '*'                   | none",
    "https://a.example       | 'localhost, a.example'| none",
    "https://a.example:6443  | a.example:6443        | none",
    "https://a.example       | a.example:6443        | proxy.corp:3128",
    "https://10.1.2.3:6443   | 10.0.0.0/8            | none",
    "https://11.1.2.3:6443   | 10.0.0.0/8            | proxy.corp:3128",
    "https://10.1.2.3        | 10.1.2.3              | none",
    "https://110.1.2.3       | 10.1.2.3              | proxy.corp:3128",
    "https://[fd00::1]       | fd00::/8              | none",
    "https://[fd00::1]       | fd00::1               | none",
    "https://[fd00::1]:6443  | '[fd00::1]:6443'      | none",
    "https://a.example       | ', ,x/y,10.0.0.0/x'   | proxy.corp:3128"})
  void whatNoProxyNamesIsAskedWithoutOne(String address, String noProxy, String expected) {
    assertThat(of(Map.of("https_proxy", "proxy.corp:3128", "no_proxy", noProxy), address)).isEqualTo(expected);
  }

  @Test
  void capitalLettersComeFirst() {
    assertThat(of(Map.of("HTTP_PROXY", "one:1", "http_proxy", "two:2"), "http://a.example")).isEqualTo("one:1");
    assertThat(of(Map.of(), "http://a.example")).isEqualTo("none");
  }

  private static String of(Map<String, String> environment, String address) {
    return EnvironmentProxies.of(environment, URI.create(address))
        .map(proxy -> proxy.login().map(login -> login.user() + ":" + login.password() + "@").orElse("") + proxy.name())
        .orElse("none");
  }
}
