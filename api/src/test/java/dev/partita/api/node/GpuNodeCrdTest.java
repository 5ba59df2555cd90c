package dev.partita.api.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.crdv2.generator.CRDGenerator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The chart's CRD is what fabric8's generator makes of the Java classes. After a change of the classes write it anew with
 * {@code mvn -pl api test -Dtest=GpuNodeCrdTest -Dpartita.crds.write=true}.
 */
class GpuNodeCrdTest {
  private static final Path CHART_CRD = Path.of("../deploy/helm/partita/crds/gpunodes.gpu.partita.dev.yaml");

  @Test
  void chartHoldsTheCrdThatTheClassesGenerate(@TempDir Path folder) throws IOException {
    new CRDGenerator().customResourceClasses(GpuNode.class).inOutputDir(folder.toFile()).generate();
    String generated = Files.readString(folder.resolve("gpunodes.gpu.partita.dev-v1.yml"));
    if (Boolean.getBoolean("partita.crds.write")) {
      Files.createDirectories(CHART_CRD.getParent());
      Files.writeString(CHART_CRD, generated);
    }
    assertThat(CHART_CRD).content().isEqualTo(generated);
  }
}
