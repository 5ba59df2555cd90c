package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.GpuQuota;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.CustomResource;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
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

  /** An amount as Kubernetes writes it. (Of a negative one the webhook says what is wrong.) */
  private static final String QUANTITY =
      "^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$";

  @ParameterizedTest
  @ValueSource(classes = {GpuNode.class, GpuQuota.class})
  void chartHoldsTheCrdThatTheClassesGenerate(Class<? extends CustomResource<?, ?>> type, @TempDir Path folder)
      throws IOException {
    String name = CustomResource.getCRDName(type);
    new CRDGenerator().customResourceClasses(type).withPostProcessor(new KubernetesTypes())
        .inOutputDir(folder.toFile()).generate();
    String generated = withPatterns(Files.readString(folder.resolve(name + "-v1.yml")));
    Path crd = CRDS.resolve(name + ".yaml");
    if (Boolean.getBoolean("partita.crds.write")) {
      Files.writeString(crd, generated);
    }
    assertThat(crd).content().isEqualTo(generated);
  }

  /** The generator has annotations for patterns of texts, and none for those of quantities. */
  private static String withPatterns(String generated) {
    return generated.replaceAll("(\n *)(x-kubernetes-int-or-string: true)",
        "$1pattern: '" + Matcher.quoteReplacement(QUANTITY) + "'$1$2");
  }

  /** {@code kubectl explain} and the page of reference have nothing else to show. */
  @ParameterizedTest
  @ValueSource(classes = {GpuNode.class, GpuQuota.class})
  void everyFieldSaysWhatItMeans(Class<? extends CustomResource<?, ?>> type) throws IOException {
    JsonNode schema = schema(type);
    List<String> undescribed = new ArrayList<>();
    for (String part : List.of("spec", "status")) {
      undescribed(schema.path("properties").path(part), part, undescribed);
    }
    assertThat(undescribed).isEmpty();
  }

  private static void undescribed(JsonNode schema, String path, List<String> found) {
    schema.path("properties").properties().forEach(field -> {
      String at = path + "." + field.getKey();
      if (field.getValue().path("description").asText().isEmpty()) {
        found.add(at);
      }
      undescribed(field.getValue(), at, found);
      undescribed(field.getValue().path("items"), at + "[]", found);
    });
  }

  private static JsonNode schema(Class<? extends CustomResource<?, ?>> type) throws IOException {
    Path crd = CRDS.resolve(CustomResource.getCRDName(type) + ".yaml");
    return new YAMLMapper().readTree(Files.readString(crd)).at("/spec/versions/0/schema/openAPIV3Schema");
  }

  @ParameterizedTest
  @ValueSource(classes = {GpuNode.class, GpuQuota.class})
  void theApiServerTakesNothingThatTheClassesCannotHold(Class<? extends CustomResource<?, ?>> type)
      throws IOException {
    JsonNode schema = schema(type);
    Type[] halves = ((ParameterizedType) type.getGenericSuperclass()).getActualTypeArguments();
    assertThat(bounded(halves[0], schema.at("/properties/spec"), "spec")
        + bounded(halves[1], schema.at("/properties/status"), "status")).as("fields that were checked").isPositive();
  }

  /** Who reads a list of objects reads none if it cannot read one: so nobody may be able to write such a one. */
  private static int bounded(Type type, JsonNode schema, String path) {
    if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      return bounded(list.getActualTypeArguments()[0], schema.path("items"), path + "[]");
    }
    if (type instanceof Class<?> record && record.isRecord()) {
      return Stream.of(record.getRecordComponents()).mapToInt(component -> bounded(component.getGenericType(),
          schema.path("properties").path(component.getName()), path + "." + component.getName())).sum();
    }
    if (type == int.class || type == Integer.class) {
      assertThat(schema.path("minimum").asDouble(Double.NEGATIVE_INFINITY)).as(path).isGreaterThanOrEqualTo(
          Integer.MIN_VALUE);
      assertThat(schema.path("maximum").asDouble(Double.POSITIVE_INFINITY)).as(path).isLessThanOrEqualTo(
          Integer.MAX_VALUE);
    } else if (type == Quantity.class) {
      String pattern = schema.path("pattern").asText();
      assertThat(List.of("", "10Gi5Mi", "plenty", "1 Gi")).as(path).noneMatch(text -> text.matches(pattern));
      assertThat(List.of("0", "40Gi", "1.5Gi", ".5M", "+1e9", "12E-1", "1E", "-1Gi")).as(path)
          .allSatisfy(text -> assertThat(text).matches(pattern))
          .allSatisfy(text -> assertThat(new Quantity(text).getNumericalAmount()).isNotNull());
    } else {
      return 0;
    }
    return 1;
  }
}
