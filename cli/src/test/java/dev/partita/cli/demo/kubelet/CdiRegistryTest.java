package dev.partita.cli.demo.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiFolder;
import dev.partita.cdi.CdiKind;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CdiRegistryTest {
  private static final CdiKind KIND = new CdiKind("example.com", "claim");

  @TempDir Path folder;

  @Test
  void aSpecsOwnEditsComeOnceAndBeforeItsDevices() throws IOException {
    write("a", device("one", "DEVICE=one"), device("two", "DEVICE=two"));

    ContainerEdits edits = CdiRegistry.read(folder).editsFor(List.of("example.com/claim=one", "example.com/claim=two"));

    assertThat(edits.env()).containsExactly("SPEC=a", "DEVICE=one", "DEVICE=two");
  }

  @Test
  void devicesOfSeveralSpecsComeInTheOrderInWhichTheyAreAskedFor() throws IOException {
    write("a", device("one", "DEVICE=one"));
    write("b", device("two", "DEVICE=two"));

    ContainerEdits edits = CdiRegistry.read(folder).editsFor(List.of("example.com/claim=two", "example.com/claim=one"));

    assertThat(edits.env()).containsExactly("SPEC=b", "DEVICE=two", "SPEC=a", "DEVICE=one");
  }

  @Test
  void aDeviceThatNoFileDefinesIsUnresolvable() throws IOException {
    write("a", device("one", "DEVICE=one"));

    assertThatThrownBy(() -> CdiRegistry.read(folder).editsFor(List.of("example.com/claim=other")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("unresolvable CDI device example.com/claim=other");
  }

  @Test
  void aDeviceThatTwoFilesDefineIsAnError() throws IOException {
    write("a", device("one", "DEVICE=one"));
    write("b", device("one", "DEVICE=other"));

    assertThatThrownBy(() -> CdiRegistry.read(folder)).isInstanceOf(IOException.class)
        .hasMessageContaining("is defined by both");
  }

  @Test
  void aFileThatIsNoSpecIsAnErrorThatNamesIt() throws IOException {
    Files.writeString(folder.resolve("broken.json"), "{");

    assertThatThrownBy(() -> CdiRegistry.read(folder)).isInstanceOf(IOException.class)
        .hasMessageContaining("broken.json");
  }

  @Test
  void aFolderThatIsNotThereDefinesNothing() throws IOException {
    assertThat(CdiRegistry.specFiles(folder.resolve("none"))).isEmpty();
    assertThat(CdiRegistry.read(folder.resolve("none")).editsFor(List.of())).isEqualTo(ContainerEdits.NONE);
  }

  private void write(String id, CdiDevice... devices) throws IOException {
    ContainerEdits own = ContainerEdits.of(List.of("SPEC=" + id), List.of(), List.of());
    new CdiFolder(folder, "test").write(id, CdiSpec.of(KIND, Map.of(), List.of(devices), own));
  }

  private static CdiDevice device(String name, String env) {
    return new CdiDevice(name, ContainerEdits.of(List.of(env), List.of(), List.of()));
  }
}
