package dev.partita.plugin.opaque;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.OpaqueCard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Of device nodes those of this machine that every Linux has. */
class CardFilesTest {
  private static final String HEAD = "apiVersion: gpu.partita.dev/v1alpha1\nkind: OpaqueCards\ncards:\n";
  private static final String GOOD = card("good", "deviceNodes: [/dev/null]");

  @TempDir Path root;
  private Path folder;

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createDirectory(root.resolve("cards.d"));
    chmod(folder, "rwxr-xr-x");
    Files.createDirectories(root.resolve("sys/bus/pci/devices/0000:c1:00.0"));
    Files.writeString(root.resolve("sys/bus/pci/devices/0000:c1:00.0/numa_node"), "1\n");
  }

  @Test
  void aCardIsWhatItsFileSays() throws IOException {
    write("a.yaml", HEAD + card("a-1", "pciBusID: '0000:c1:00.0', numaNode: 1, deviceNodes: [/dev/null, /dev/zero],"
        + " env: [A=b], mounts: [/opt/acme], cdiDevices: ['acme.com/gpu=0']"));
    OpaqueCards read = read();
    assertThat(read.problems()).isEmpty();
    OpaqueCard card = read.of(files("node-0").uuid("a-1")).orElseThrow();
    assertThat(card.memoryBytes()).isEqualTo(8L << 30);
    assertThat(card.deviceNodes()).containsExactly("/dev/null", "/dev/zero");
    assertThat(card.env()).containsExactly("A=b");
    assertThat(card.mounts()).containsExactly("/opt/acme");
    assertThat(card.cdiDevices()).containsExactly("acme.com/gpu=0");
    assertThat(card.numaNode()).hasValue(1);
  }

  @Test
  void equalFilesOnTwoNodesAreOfDifferentCards() {
    assertThat(files("node-0").uuid("a")).startsWith("OPAQUE-").isEqualTo(files("node-0").uuid("a"))
        .isNotEqualTo(files("node-1").uuid("a")).matches("OPAQUE-[0-9a-f-]{36}");
  }

  @Test
  void aNodeWithoutTheFolderHasNoFiles() {
    assertThat(new CardFiles(Optional.of(root.resolve("none")), "node-0", host(), me()).read().areListed()).isFalse();
    assertThat(CardFiles.NONE.read()).isEqualTo(OpaqueCards.NONE);
    assertThat(read().areListed()).as("an empty folder").isFalse();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      textBlock = """
          deviceNodes: [/etc/shadow]                               | cards[1].deviceNodes[0]: must be a device node below /dev
          deviceNodes: [/dev/../etc/shadow]                        | cards[1].deviceNodes[0]: must be an absolute path
          deviceNodes: [/dev/.hidden]                              | cards[1].deviceNodes[0]: must be an absolute path
          deviceNodes: [dev/null]                                  | cards[1].deviceNodes[0]: must be an absolute path
          deviceNodes: [/dev/nvidia0]                              | must not be a device node of NVIDIA's driver
          deviceNodes: [/dev/partita-none]                         | names /dev/partita-none, which the node does not have
          deviceNodes: [/dev/fd]                                   | names /dev/fd, which is no device node itself
          deviceNodes: [/dev/stdin]                                | names /dev/stdin, which is no device node itself
          deviceNodes: /dev/null                                   | cards[1].deviceNodes: must be a list
          deviceNodes: []                                          | cards[1].deviceNodes: must not be empty
          env: [A=b]                                               | cards[1].deviceNodes: is missing
          deviceNodes: [/dev/null], env: [LD_PRELOAD=x]            | cards[1].env[0]: must not begin with
          deviceNodes: [/dev/null], env: [no value]                | cards[1].env[0]: must be NAME=value
          deviceNodes: [/dev/null], mounts: [/proc/1]              | cards[1].mounts[0]: must not lie in /dev, /proc or /sys
          deviceNodes: [/dev/null], mounts: [/]                    | cards[1].mounts[0]: must be an absolute path
          deviceNodes: [/dev/null], pciBusID: '0000:c2:00.0'       | has pciBusID 0000:c2:00.0, where the node has no device
          deviceNodes: [/dev/null], pciBusID: 'c1'                 | cards[1].pciBusID: must be a PCI address
          deviceNodes: [/dev/null], pciBusID: '0000:c1:00.0', numaNode: 0 | has numaNode 0, but 0000:c1:00.0 is on node 1
          deviceNodes: [/dev/null], numaNode: -1                   | cards[1].numaNode: must be a whole number
          deviceNodes: [/dev/null], devicenodes: []                | cards[1].devicenodes: is not a known field; did you mean deviceNodes?
          cdiDevices: [gpu]                                        | cards[1].cdiDevices[0]: must be a qualified CDI device name
          """)
  void aCardThatIsWrongIsLeftOutAndTheOtherIsUsed(String fields, String problem) throws IOException {
    write("a.yaml", HEAD + GOOD + card("bad", fields));
    OpaqueCards read = read();
    assertThat(read.problems()).singleElement().asString().startsWith("a.yaml: ").contains(problem);
    assertThat(read.byUuid()).containsOnlyKeys(files("node-0").uuid("good"));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      vendor: NVIDIA, productName: x, serial: s, memory: 1Gi      | cards[0].vendor: must not be NVIDIA
      vendor: '', productName: x, serial: s, memory: 1Gi          | cards[0].vendor: must be 1 to 32
      productName: x, serial: s, memory: 1Gi                      | cards[0].vendor: is missing
      vendor: V, productName: x, serial: '../s', memory: 1Gi      | cards[0].serial: must be 1 to 64 letters
      vendor: V, productName: x, serial: s                        | cards[0].memory: is missing
      vendor: V, productName: x, serial: s, memory: 1Ki           | cards[0].memory: must be from 1Mi to 1Pi
      vendor: V, productName: x, serial: s, memory: 2Pi           | cards[0].memory: must be from 1Mi to 1Pi
      vendor: V, productName: x, serial: s, memory: much          | cards[0].memory: is not a quantity
      vendor: V, productName: 7, serial: s, memory: 1Gi           | cards[0].productName: must be a string
      """)
  void whatACardIsHasToBeSaid(String fields, String problem) throws IOException {
    write("a.yaml", HEAD + "- {" + fields + ", deviceNodes: [/dev/null]}\n");
    assertThat(read().problems()).singleElement().asString().contains(problem);
    assertThat(read().byUuid()).isEmpty();
    assertThat(read().areListed()).isTrue();
  }

  @Test
  void aCardIsListedOnceInAllFiles() throws IOException {
    write("a.yaml", HEAD + GOOD + card("good", "deviceNodes: [/dev/zero]"));
    write("b.json", "{\"apiVersion\": \"gpu.partita.dev/v1alpha1\", \"kind\": \"OpaqueCards\", \"cards\": [{\"vendor\":"
        + " \"V\", \"productName\": \"P\", \"serial\": \"good\", \"memory\": \"1Gi\", \"deviceNodes\": [\"/dev/null\"]}]}");
    OpaqueCards read = read();
    assertThat(read.byUuid()).hasSize(1);
    assertThat(read.problems()).containsExactly(
        "a.yaml: cards[1] has the same serial good as a.yaml: cards[0]; each card is listed once",
        "b.json: cards[0] has the same serial good as a.yaml: cards[0]; each card is listed once");
  }

  @Test
  void whatIsNoDocumentOfThisKindIsSaidWithItsLine() throws IOException {
    write("a.yaml", "apiVersion: gpu.partita.dev/v1alpha1\nkind: [\n}");
    write("b.yaml", "kind: OpaqueCards\ncards: []\n");
    write("c.yaml", HEAD.replace("cards:", "cards: {}"));
    write("d.yaml", "");
    write("e.yaml", HEAD + "- 7\n" + GOOD);
    write("f.txt", "not looked at");
    OpaqueCards read = read();
    assertThat(read.problems()).hasSize(5);
    assertThat(read.problems().get(0)).matches("a\\.yaml, line 2: is no YAML: .*");
    assertThat(read.problems().get(1)).isEqualTo("b.yaml: apiVersion: must be gpu.partita.dev/v1alpha1, not \"\"");
    assertThat(read.problems().get(2)).startsWith("c.yaml: cards: must be a list of 1 to 64 entries");
    assertThat(read.problems().get(3)).isEqualTo("d.yaml: must be an object, not nothing");
    assertThat(read.problems().get(4)).isEqualTo("e.yaml: cards[0]: must be an object, not a number");
    assertThat(read.byUuid()).hasSize(1);
  }

  @Test
  void aFileThatIsTooLargeIsNotRead() throws IOException {
    write("a.yaml", HEAD + GOOD + "# " + "x".repeat(256 << 10) + "\n");
    assertThat(read().problems()).containsExactly("a.yaml has more than 256 KiB; split it");
    assertThat(read().byUuid()).isEmpty();
  }

  @Test
  void moreFilesThanThereMayBeAreNotRead() throws IOException {
    for (int i = 0; i < 33; i++) {
      write(i + ".yaml", HEAD + GOOD);
    }
    assertThat(read().problems()).singleElement().asString()
        .endsWith("has more than 32 files; put their cards into fewer");
  }

  @Test
  void whatOthersCanWriteIsNotBelieved() throws IOException {
    write("a.yaml", HEAD + GOOD);
    chmod(folder.resolve("a.yaml"), "rw-rw-r--");
    Files.createSymbolicLink(folder.resolve("b.yaml"), folder.resolve("a.yaml"));
    assertThat(read().problems()).containsExactly(
        "a.yaml can be written by others than root: chmod go-w it",
        "b.yaml is not a regular file, and links are not followed");
    chmod(folder.resolve("a.yaml"), "rw-r--r--");
    chmod(folder, "rwxrwxrwx");
    assertThat(read().problems()).containsExactly(folder + " can be written by others than root: chmod go-w it");
    chmod(folder, "rwxr-xr-x");
    assertThat(new CardFiles(Optional.of(folder), "node-0", host(), me() + 1).read().problems())
        .containsExactly(folder + " belongs to user " + me() + ", and must be root's: chown root it");
  }

  private OpaqueCards read() {
    return files("node-0").read();
  }

  private CardFiles files(String node) {
    return new CardFiles(Optional.of(folder), node, host(), me());
  }

  private CardFiles.Host host() {
    return new CardFiles.Host(Path.of("/dev"), root.resolve("sys"));
  }

  private int me() {
    try {
      return (Integer) Files.getAttribute(root, "unix:uid");
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void write(String name, String content) throws IOException {
    Files.writeString(folder.resolve(name), content);
    chmod(folder.resolve(name), "rw-r--r--");
  }

  private static void chmod(Path path, String permissions) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }

  private static String card(String serial, String fields) {
    return "- {vendor: Acme, productName: Accelerator 9, serial: " + serial + ", memory: 8Gi, " + fields + "}\n";
  }
}
