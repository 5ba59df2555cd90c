package dev.partita.plugin.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.device.AttributeValue;
import dev.partita.cdi.Mount;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MetadataFoldersTest {
  private static final String UID = "uid-1";
  private static final String FILE = "gpu.partita.dev-metadata.json";
  private static final String ROOT = "/var/run/kubernetes.io/dra-device-attributes/";

  @TempDir @SuppressWarnings("NullAway.Init") Path run;

  @SuppressWarnings("NullAway.Init") private MetadataFolders folders;

  @BeforeEach
  void open() {
    folders = new MetadataFolders(run);
  }

  @Test
  void theGenerationGrowsWithEveryChangeAndWithNothingElse() throws IOException {
    folders.write(UID, "gpu", saying(1));
    assertThat(Files.readAllBytes(file())).isEqualTo(saying(1).at(1));
    assertThat(Files.getPosixFilePermissions(file())).isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
    Object first = Files.getAttribute(file(), "unix:ino");
    folders.write(UID, "gpu", saying(1));
    assertThat(Files.getAttribute(file(), "unix:ino")).isEqualTo(first);
    folders.write(UID, "gpu", saying(2));
    assertThat(Files.readAllBytes(file())).isEqualTo(saying(2).at(2));
    new MetadataFolders(run).write(UID, "gpu", saying(1));
    assertThat(Files.readAllBytes(file())).as("of another plugin").isEqualTo(saying(1).at(3));
    assertThat(file().getParent()).isDirectoryNotContaining(path -> !path.endsWith(FILE));
  }

  @Test
  void whoeverHasTheFileOpenReadsAllOfTheOldOne() throws IOException {
    folders.write(UID, "gpu", saying(1));
    try (InputStream open = Files.newInputStream(file())) {
      byte[] old = saying(1).at(1);
      assertThat(open.readNBytes(100)).isEqualTo(Arrays.copyOf(old, 100));
      folders.write(UID, "gpu", saying(2));
      assertThat(open.readAllBytes()).isEqualTo(Arrays.copyOfRange(old, 100, old.length));
    }
  }

  /** A container can hold a lease on it. */
  @Test
  void theMountedFileIsNotRead() throws IOException {
    folders.write(UID, "gpu", saying(1));
    Files.writeString(file(), "{\"metadata\": {\"generation\": 99}}");
    folders.write(UID, "gpu", saying(2));
    assertThat(Files.readAllBytes(file())).isEqualTo(saying(2).at(2));
  }

  @Test
  void aFileThatIsMissingIsWrittenAnew() throws IOException {
    folders.write(UID, "gpu", saying(1));
    assertThat(folders.hasAll(claim("c", Optional.empty(), Set.of()))).isTrue();
    Files.delete(file());
    assertThat(folders.hasAll(claim("c", Optional.empty(), Set.of()))).isFalse();
    folders.write(UID, "gpu", saying(1));
    assertThat(file()).exists();
  }

  @Test
  void aPluginThatWasKilledWhileItWroteLeavesNoGenerationThatTwoContentsHave() throws IOException {
    folders.write(UID, "gpu", saying(1));
    Path written = run.resolve("metadata/" + UID + "/written/gpu");
    Path begun = run.resolve("metadata/" + UID + "/written/gpu.begun");

    Files.write(begun, saying(2).at(2)); // before it replaced the file
    folders.write(UID, "gpu", saying(1));
    assertThat(Files.readAllBytes(file())).isEqualTo(saying(1).at(3));
    assertThat(begun).doesNotExist();

    Files.write(begun, saying(2).at(4)); // after that
    Files.copy(begun, file(), StandardCopyOption.REPLACE_EXISTING);
    folders.write(UID, "gpu", saying(3));
    assertThat(Files.readAllBytes(file())).isEqualTo(saying(3).at(5));

    Files.writeString(begun, "{\"kind"); // while it noted what it was about to write
    Path leftover = Files.createFile(file().resolveSibling("." + FILE + ".1.partita-tmp"));
    folders.write(UID, "gpu", saying(4));
    assertThat(Files.readAllBytes(file())).isEqualTo(saying(4).at(6));
    assertThat(written).hasBinaryContent(saying(4).at(6));
    assertThat(leftover).doesNotExist();
  }

  @Test
  void removeTakesAllOfTheClaimAndNothingOfOthers() throws IOException {
    folders.write(UID, "gpu", saying(1));
    folders.write(UID, "other", saying(1));
    folders.write("uid-2", "gpu", saying(1));
    assertThat(folders.uids()).containsExactly(UID, "uid-2");
    assertThat(folders.remove(UID)).isTrue();
    assertThat(folders.remove(UID)).isFalse();
    assertThat(folders.uids()).containsExactly("uid-2");
    folders.write(UID, "gpu", saying(2));
    assertThat(Files.readAllBytes(file())).as("prepared anew").isEqualTo(saying(2).at(1));
  }

  @Test
  void metadataWithoutBoundIsNotWritten() {
    assertThatThrownBy(() -> folders.write(UID, "gpu", saying(20_000))).isInstanceOf(IOException.class)
        .hasMessageContaining("more than 524288");
    assertThat(file()).doesNotExist();
  }

  @Test
  void theFolderOfEachRequestIsMountedWhereTheKindOfClaimHasIt() {
    Grant both = new Grant(List.of("a", "b"), "gpu-0", Optional.empty(), Grants.card(0), Grants.whole("a", 0).use());
    assertThat(folders.mounts(claim("my.claim", Optional.empty(), Set.of()), both)).containsExactly(
        Mount.readOnly(run + "/metadata/uid-1/mounted/a", ROOT + "resourceclaims/my.claim/a"),
        Mount.readOnly(run + "/metadata/uid-1/mounted/b", ROOT + "resourceclaims/my.claim/b"));
    assertThat(folders.mounts(claim("pod-gpu-x7k2p", Optional.of("gpu"), Set.of()), Grants.whole("a", 0)))
        .containsExactly(Mount.readOnly(run + "/metadata/uid-1/mounted/a", ROOT + "resourceclaimtemplates/gpu/a"));
  }

  @Test
  void besideOtherDriversDevicesTheFileAloneIsMounted() {
    assertThat(folders.mounts(claim("c", Optional.empty(), Set.of("a")), Grants.whole("a", 0))).containsExactly(
        Mount.readOnly(run + "/metadata/uid-1/mounted/a/" + FILE, ROOT + "resourceclaims/c/a/" + FILE));
  }

  @Test
  void aClaimWhoseNamesAreNotKnownHasNone() {
    PreparedClaim earlier = new PreparedClaim(new ClaimRef("default", "c", UID), PreparedClaim.Phase.COMPLETED, "boot",
        List.of(Grants.whole("a", 0)), Map.of(), false);
    assertThat(folders.mounts(earlier, earlier.grants().getFirst())).isEmpty();
    assertThat(folders.hasAll(earlier)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", ".", "", "a/b", "../../etc", "/etc", "A", "a\0b"})
  void whatIsNoDnsNameIsNeverPartOfAPath(String name) {
    Grant grant = Grants.whole("a", 0);
    assertThatThrownBy(() -> folders.write(UID, name, saying(1))).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> folders.mounts(claim(name, Optional.empty(), Set.of()), grant))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> folders.mounts(claim("c", Optional.of(name), Set.of()), grant))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> folders.mounts(claim("c", Optional.empty(), Set.of()), Grants.whole(name, 0)))
        .isInstanceOf(IllegalStateException.class);
    assertThat(run).isEmptyDirectory();
  }

  private Path file() {
    return run.resolve("metadata/" + UID + "/mounted/gpu/" + FILE);
  }

  private static PreparedClaim claim(String name, Optional<String> podClaimName, Set<String> ofSeveralDrivers) {
    return new PreparedClaim(new ClaimRef("default", name, UID), PreparedClaim.Phase.COMPLETED, "boot",
        List.of(Grants.whole("gpu", 0)), Map.of(), false,
        Optional.of(new MetadataNames(podClaimName, Map.of(), ofSeveralDrivers)));
  }

  /** Something with that many attributes. */
  private static DeviceMetadata saying(int much) {
    TreeMap<String, AttributeValue> attributes = new TreeMap<>();
    for (int i = 0; i < much; i++) {
      attributes.put("attribute" + i, new AttributeValue.Int(i));
    }
    return new DeviceMetadata(new ClaimRef("default", "c", UID), Optional.empty(), "gpu", "node-0/gpu",
        List.of(new DeviceMetadata.Device("gpu-0", attributes)));
  }
}
