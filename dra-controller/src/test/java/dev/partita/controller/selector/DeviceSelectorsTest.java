package dev.partita.controller.selector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.Inventory;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceSelectorsTest {
  private static final List<Device> DEVICES =
      Objects.requireNonNull(
              Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB))).host("node-0"))
          .devices();
  private static final Device WHOLE = DEVICES.get(0);
  private static final Device SHARED = DEVICES.get(1);

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
        "cel.bind(attrs, device.attributes[\"gpu.partita.dev\"], attrs.model == \"h200\" && attrs.type == \"gpu\")",
      })
  void holdsAsItDoesInKubernetes(String expression) {
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @Test
  void aWholeCardIsNotShareable() {
    assertThat(selectors.evaluate("device.allowMultipleAllocations", WHOLE)).isEqualTo(Verdict.FALSE);
    assertThat(selectors.evaluate("device.attributes[\"gpu.partita.dev\"].mode == \"whole\"", WHOLE)).isEqualTo(Verdict.TRUE);
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
      strings = {"device.driver ==", "devise.driver == \"x\"", "device.driver.frobnicate()", "\"text\"", "42", "ip(\"1.2.3.4\") == x"})
  void whatDoesNotCompileIsSaid(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isPresent();
    assertThat(selectors.evaluate(expression, SHARED)).isInstanceOf(Verdict.Failed.class);
  }

  @Test
  void aComprehensionThatWouldRunForEverEnds() {
    String many = "[0,1,2,3,4,5,6,7,8,9]";
    String expression = "%s.all(a, %s.all(b, %s.all(c, %s.all(d, %s.all(e, %s.all(f, a + b + c + d + e + f >= 0))))))".formatted(many, many, many, many, many, many);
    assertThat(selectors.evaluate(expression, SHARED)).isInstanceOf(Verdict.Failed.class);
  }
}
