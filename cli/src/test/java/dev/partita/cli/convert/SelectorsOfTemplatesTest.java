package dev.partita.cli.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.runtime.CelRuntimeFactory;
import dev.partita.admission.convert.Conversion;
import dev.partita.admission.convert.PodConversion;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CEL out of annotations, as the allocator compiles it. */
class SelectorsOfTemplatesTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @ParameterizedTest
  @ValueSource(
      strings = {"GPU-1", "x\" || true || \"", "\\", "\\\"", "\\\\\"", "${x}", "'", "\\x41", "\\u0041",
        "\u00e9\u4e2d\uD83D\uDE00", "\uD800", "`", "r\"", "a\u2028b", "\u00a0x"})
  void aUuidMeansItselfAndNothingElse(String uuid) throws Exception {
    String expression = expression("nvidia.com/use-gpuuuid", uuid);

    assertThat(new DeviceSelectors().compileError(expression)).isEmpty();
    assertThat(holds(expression, uuid.equals("\uD800") ? "\uFFFD" : uuid)).isTrue();
    assertThat(holds(expression, "GPU-2")).isFalse();
    assertThat(holds(expression, uuid + " ")).isFalse();
  }

  @Test
  void modelsCompileForTheAllocator() {
    assertThat(new DeviceSelectors().compileError(expression("nvidia.com/use-gputype", "A100,NVIDIA H200"))).isEmpty();
    assertThat(new DeviceSelectors().compileError(expression("nvidia.com/nouse-gputype", "A100"))).isEmpty();
  }

  private static String expression(String annotation, String value) {
    ObjectNode pod = JSON.createObjectNode();
    pod.withObject("metadata").withObject("annotations").put(annotation, value);
    pod.withObject("spec").withArrayProperty("containers").addObject().withObject("resources").withObject("limits")
        .put("nvidia.com/gpu", 1);
    var converted = (Conversion.Converted) new PodConversion().convert(pod, "");
    return converted.templates().getFirst().request().selectors().getFirst();
  }

  private static boolean holds(String expression, String uuid) throws Exception {
    var compiler = CelCompilerFactory.standardCelCompilerBuilder().addVar("device", SimpleType.DYN).build();
    var program =
        CelRuntimeFactory.standardCelRuntimeBuilder().build().createProgram(compiler.compile(expression).getAst());
    return (boolean) program
        .eval(Map.of("device", Map.of("attributes", Map.of("gpu.partita.dev", Map.of("uuid", uuid)))));
  }
}
