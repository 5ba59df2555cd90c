package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.GpuQuota;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.kubernetes.client.CustomResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
}
