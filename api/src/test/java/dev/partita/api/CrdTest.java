package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.GpuQuota;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.kubernetes.client.CustomResource;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The chart's CRDs are what fabric8's generator makes of the Java classes. After a change of the classes write them
 * anew with {@code mvn -pl api test -Dtest=CrdTest -Dpartita.crds.write=true}.
 */
class CrdTest {
  private static final Path CRDS = Path.of("../deploy/helm/partita/crds");

  @ParameterizedTest
  @ValueSource(classes = {GpuNode.class, GpuQuota.class})
  void chartHoldsTheCrdThatTheClassesGenerate(Class<? extends CustomResource<?, ?>> type, @TempDir Path folder)
      throws IOException {
    String name = CustomResource.getCRDName(type);
    new CRDGenerator().customResourceClasses(type).inOutputDir(folder.toFile()).generate();
    String generated = Files.readString(folder.resolve(name + "-v1.yml"));
    Path crd = CRDS.resolve(name + ".yaml");
    if (Boolean.getBoolean("partita.crds.write")) {
      Files.writeString(crd, generated);
    }
    assertThat(crd).content().isEqualTo(generated);
  }

  @ParameterizedTest
  @ValueSource(classes = {GpuNode.class, GpuQuota.class})
  void theApiServerTakesNoNumberThatAnIntegerOfTheClassesCannotHold(Class<? extends CustomResource<?, ?>> type)
      throws IOException {
    Path crd = CRDS.resolve(CustomResource.getCRDName(type) + ".yaml");
    JsonNode schema = new YAMLMapper().readTree(Files.readString(crd)).at("/spec/versions/0/schema/openAPIV3Schema");
    for (Method half : List.of(method(type, "getSpec"), method(type, "getStatus"))) {
      String name = half.getName().substring("get".length()).toLowerCase(Locale.ROOT);
      bounded(half.getReturnType(), schema.path("properties").path(name), name);
    }
  }

  /** Who reads a list of objects reads none if it cannot read one: so nobody may be able to write such a one. */
  private static void bounded(Type type, JsonNode schema, String path) {
    if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      bounded(list.getActualTypeArguments()[0], schema.path("items"), path + "[]");
    } else if (type == int.class || type == Integer.class) {
      assertThat(schema.path("minimum").asDouble(Double.NEGATIVE_INFINITY)).as(path).isGreaterThanOrEqualTo(
          Integer.MIN_VALUE);
      assertThat(schema.path("maximum").asDouble(Double.POSITIVE_INFINITY)).as(path).isLessThanOrEqualTo(
          Integer.MAX_VALUE);
    } else if (type instanceof Class<?> record && record.isRecord()) {
      for (RecordComponent component : record.getRecordComponents()) {
        bounded(component.getGenericType(), schema.path("properties").path(component.getName()),
            path + "." + component.getName());
      }
    }
  }

  private static Method method(Class<?> type, String name) {
    return Stream.of(type.getMethods()).filter(method -> method.getName().equals(name)).filter(m -> !m.isBridge())
        .findFirst().orElseThrow();
  }
}
