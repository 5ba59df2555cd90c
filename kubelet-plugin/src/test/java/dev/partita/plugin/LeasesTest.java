package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A process, such as root in a container, that holds leases on the files of its claim and gives them up only when the
 * kernel takes them: an ordinary open of such a file waits for 45 s.
 */
@MockApiServer(crud = true)
class LeasesTest {
  private static final Duration SOON = Duration.ofSeconds(25);

  /** More than {@code fs.lease-break-time}. */
  private static final Duration BROKEN = Duration.ofSeconds(100);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void nobodyGetsALeaseThatThePluginOrAnotherContainerWouldWaitFor() throws Exception {
    try (TestNode node = TestNode.withCards("node-l", "h200x1");
        KubeletPlugin _ = TestNode.start(node.settings("--usage-period=0.1"), client)) {
      ResourceClaim claim = created("mine", 0);
      ResourceClaim other = created("other", 0);
      assertThat(node.prepare(claim).getError()).isEmpty();
      assertThat(node.prepare(other).getError()).isEmpty();
      Path card = file(node, "state", claim, "card");
      await().atMost(SOON).until(() -> Files.exists(card));
      for (Path file : List.of(file(node, "run", claim, "usage"), card, library(node))) {
        try (Holder holder = new Holder(file)) {
          assertThat(holder.nextLine()).as("lease on %s", file.getFileName()).isEqualTo("refused");
        }
      }
    }
  }

  /** A container that was prepared by that plugin has them mounted for as long as its claim is prepared. */
  @Test
  void nobodyGetsALeaseOnLibrariesThatAnEarlierPluginInstalled() throws Exception {
    try (TestNode node = TestNode.withCards("node-o", "h200x1")) {
      try (KubeletPlugin _ = TestNode.start(node.settings(), client)) {
        assertThat(node.prepare(created("earlier", 0)).getError()).isEmpty();
      }
      Path library = library(node);
      for (String content : List.of("the same version", "another version")) {
        if (content.startsWith("another")) {
          Files.writeString(node.root.resolve("hook/libcuda-shadow.so"), content);
        }
        try (KubeletPlugin _ = TestNode.start(node.settings(), client); Holder holder = new Holder(library)) {
          assertThat(holder.nextLine()).as("lease on that of %s", content).isEqualTo("refused");
        }
      }
    }
  }

  @Test
  void aLeaseThatWasTakenWhileNoPluginRanHoldsUpNobodyElseAndIsNotTakenTwice() throws Exception {
    try (TestNode node = TestNode.withCards("node-m", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      ResourceClaim hostile = created("hostile", 0);
      ResourceClaim neighbour = created("neighbour", 0);
      TestContainer container;
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        assertThat(node.prepare(hostile).getError()).isEmpty();
        container = TestContainer.of(node, neighbour);
        await().atMost(SOON).until(() -> Files.exists(file(node, "state", hostile, "card")));
      }
      try (Holder usage = new Holder(file(node, "run", hostile, "usage"));
          Holder card = new Holder(file(node, "state", hostile, "card"));
          Holder quota = new Holder(file(node, "state", hostile, "quota"));
          Holder metadata = new Holder(node.metadata(hostile, "gpu"));
          Holder library = new Holder(ofEarlierVersion(node))) {
        for (Holder holder : List.of(usage, card, quota, metadata, library)) {
          assertThat(holder.nextLine()).isEqualTo("held");
        }
        try (KubeletPlugin _ = TestNode.start(settings(node), client);
            TestContainer.Running _ = container.hold("1Gi")) {
          await("the neighbour's contexts to count").atMost(SOON)
              .until(() -> Files.readString(file(node, "state", neighbour, "quota")).contains("context "));
          long number = number(node, neighbour);
          await("the neighbour's card reports to go on").atMost(SOON)
              .until(() -> number(node, neighbour) > number + 10);
          long start = System.nanoTime();
          assertThat(node.prepare(created("third", 0)).getError()).isEmpty();
          assertThat(node.prepare(hostile).getError()).as("a replay").isEmpty();
          assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
          usage.refused(BROKEN); // from when the kernel has broken the lease the plugin has the region
          library.refused(BROKEN);
        }
      }
    }
  }

  @Test
  void whatContextsTakeIsWrittenIntoAQuotaWhoseLeaseIsNeverGivenUp() throws Exception {
    try (TestNode node = TestNode.withCards("node-n", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      ResourceClaim claim = created("contexts", 0);
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        TestContainer container = TestContainer.of(node, claim);
        try (Holder quota = new Holder(file(node, "state", claim, "quota"));
            TestContainer.Running _ = container.holdPastTheShadow("1Gi")) {
          assertThat(quota.nextLine()).isEqualTo("held");
          await().atMost(SOON)
              .until(() -> Files.readString(file(node, "state", claim, "quota")).contains("overhead 1388314624\n"));
        }
      }
    }
  }

  private static PluginSettings settings(TestNode node) throws IOException {
    return TestContainer.settings(node, "--usage-period=0.1");
  }

  private ResourceClaim created(String name, int card) {
    return client.resource(claim(name, share("node-" + nodeOf(name), "gpu", card, "8Gi", "20"))).create();
  }

  private static String nodeOf(String claim) {
    return switch (claim) {
      case "mine", "other" -> "l";
      case "contexts" -> "n";
      case "earlier" -> "o";
      default -> "m";
    };
  }

  private static Path file(TestNode node, String root, ResourceClaim claim, String name) {
    String key = claim.getStatus().getAllocation().getDevices().getResults().getFirst().getShareID();
    return node.root.resolve(root).resolve("shares").resolve(claim.getMetadata().getUid()).resolve(key).resolve(name);
  }

  /** It is one and the same file in all containers of the node. */
  private static Path library(TestNode node) throws IOException {
    try (Stream<Path> folders = Files.list(node.root.resolve("opt/lib"))) {
      return folders.toList().getFirst().resolve("libcuda-shadow.so");
    }
  }

  private static Path ofEarlierVersion(TestNode node) throws IOException {
    Path ofThis = library(node);
    Path folder = Files.createDirectory(node.root.resolve("opt/lib/0123456789abcdef"));
    return Files.copy(ofThis, folder.resolve("libcuda-shadow.so"), StandardCopyOption.COPY_ATTRIBUTES);
  }

  private static long number(TestNode node, ResourceClaim claim) throws IOException {
    String report = Files.readString(file(node, "state", claim, "card"));
    return Long.parseLong(report.lines().filter(line -> line.startsWith("report ")).findFirst().orElseThrow()
        .substring("report ".length()));
  }

  /** Takes a lease of either kind as often as it is lost, and says each time whether it has got one. */
  private static final class Holder implements AutoCloseable {
    private static final String PROGRAM =
        """
            use Fcntl; $| = 1; $SIG{IO} = 'IGNORE';
            my ($set, $get, $none) = (1024, 1025, 2);
            sysopen(my $file, $ARGV[0], O_RDONLY) or die $!;
            while (1) {
              my $held = fcntl($file, $set, 1) || (!$ARGV[1] && fcntl($file, $set, 0));
              print $held ? "held\\n" : "refused\\n";
              exit unless $held;
              select(undef, undef, undef, 0.001) while fcntl($file, $get, 0) != $none;
            }
            """;

    private final Process process;
    private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();

    /** Of a library only the kind that keeps readers waiting. */
    Holder(Path file) throws IOException {
      Path perl = Path.of("/usr/bin/perl");
      assumeTrue(Files.isExecutable(perl), perl + " is not there");
      process = new ProcessBuilder(perl.toString(), "-e", PROGRAM, file.toString(),
          file.toString().endsWith(".so") ? "1" : "").redirectErrorStream(true).start();
      BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
      Thread.ofVirtual().start(() -> output.lines().forEach(lines::add));
    }

    String nextLine() {
      await().atMost(SOON).until(() -> !lines.isEmpty());
      return Objects.requireNonNull(lines.poll());
    }

    void refused(Duration within) {
      await().atMost(within).until(() -> lines.contains("refused"));
    }

    @Override
    public void close() {
      process.destroyForcibly().onExit().join();
    }
  }
}
