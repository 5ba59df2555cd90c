package dev.partita.cli.rightsizing;

import static dev.partita.controller.fleet.PaperFleet.share;
import static dev.partita.controller.fleet.PaperFleet.since;
import static dev.partita.controller.fleet.PaperFleet.used;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.CommandRun;
import dev.partita.cli.command.PaperCluster;
import dev.partita.cli.command.SpanConverter;
import dev.partita.controller.fleet.PaperFleet;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.TypeConversionException;

class ReportCommandTest {
  private static final long GIB = PaperFleet.GIB;
  private static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");
  private static final SizingRule RULE = new SizingRule(Duration.ofHours(1), 60, 25);

  /** A share of 40 GiB that was allocated two hours ago. */
  private static ResourceClaim old(String name, long peakGib) {
    return since(used(share("team", name, "n", 0, 40, 0), peakGib, peakGib, 0), NOW.minus(Duration.ofHours(2)));
  }

  private static RightSizing of(ResourceClaim... claims) {
    return RightSizing.of(List.of(claims), RULE, NOW);
  }

  @Test
  void aShareWhosePeakStayedFarBelowIsToHoldItsPeakAndHeadroom() {
    RightSizing report = of(old("idle", 3), old("half", 20), old("busy", 24), old("full", 40));
    assertThat(report.oversized()).extracting(share -> share.device().claim()).as("most gain first")
        .containsExactly("idle", "half");
    assertThat(report.oversized().getFirst().proposed()).isEqualTo(GIB * 15 / 4);
    assertThat(report.oversized().getLast().proposed()).isEqualTo(25 * GIB);
    assertThat(report.gains()).containsExactly(java.util.Map.entry("h200", 40 * GIB - GIB * 15 / 4 + 15 * GIB));
    assertThat(report.shares()).isEqualTo(4);
  }

  @Test
  void whatIsYoungOrWasNeverMeasuredIsCountedAndNotJudged() {
    ResourceClaim young = since(old("young", 1), NOW.minus(Duration.ofMinutes(59)));
    ResourceClaim silent = since(share("team", "silent", "n", 0, 40, 0), NOW.minus(Duration.ofDays(9)));
    RightSizing report = of(young, silent, PaperFleet.whole("team", "whole", "n", 1));
    assertThat(report).isEqualTo(new RightSizing(List.of(), 2, 1, 1));
  }

  @Test
  void aShareThatUsedNothingIsLeftTheSmallestSize() {
    assertThat(of(old("never", 0)).oversized().getFirst().proposed()).isEqualTo(GIB / 4);
  }

  @Test
  void aShareThatIsAsSmallAsItGetsIsLeftAlone() {
    ResourceClaim small =
        since(used(share("team", "small", "n", 0, 1, 0), 0, 0, 0), NOW.minus(Duration.ofHours(2)));
    SizingRule generous = new SizingRule(Duration.ofHours(1), 100, 1000);
    assertThat(RightSizing.of(List.of(old("a", 30), small), generous, NOW).oversized())
        .extracting(share -> share.device().claim()).containsExactly("small");
    assertThat(generous.proposed(Long.MAX_VALUE)).as("no overflow").isPositive();
  }

  @Test
  void aRuleThatCannotBeIsRefused() {
    assertThatThrownBy(() -> new SizingRule(Duration.ZERO, 0, 1)).isInstanceOf(CommandFailure.class)
        .hasMessageContaining("--below");
    assertThatThrownBy(() -> new SizingRule(Duration.ZERO, 1, -1)).isInstanceOf(CommandFailure.class)
        .hasMessageContaining("--headroom");
  }

  @Test
  void spansAreWrittenAsKubectlWritesAges() throws Exception {
    SpanConverter spans = new SpanConverter();
    assertThat(spans.convert("1h30m")).isEqualTo(Duration.ofMinutes(90));
    assertThat(spans.convert("7d")).isEqualTo(Duration.ofDays(7));
    assertThat(spans.convert("1d2s")).isEqualTo(Duration.ofDays(1).plusSeconds(2));
    for (String wrong : List.of("", "1", "h", "1w", "-1h", "9".repeat(40) + "s")) {
      assertThatThrownBy(() -> spans.convert(wrong)).as(wrong).isInstanceOf(TypeConversionException.class);
    }
  }

  @Test
  void theReportSaysWhatTheFleetWouldGain(@TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      Instant before = Instant.now().minus(Duration.ofDays(3));
      cluster.add(since(used(share("team", "idle", "n", 0, 40, 0), 3, 3, 0), before));
      cluster.add(since(used(share("team", "full", "n", 0, 8, 0), 8, 8, 0), before));
      CommandRun told = cluster.run("report");
      assertThat(told.status()).as(told.err()).isZero();
      assertThat(told.out()).isEqualTo(
          """
              NAMESPACE   NAME   MODEL   MEMORY   PEAK   PROPOSED   GAIN      AGE   USERS
              team        idle   h200    40GiB    3GiB   3.7GiB     36.2GiB   3d    idle

              1 of 2 shares hold far more than they ever used; the fleet would gain 36.2 GiB of h200
              """);
      JsonNode report = new ObjectMapper().readTree(cluster.run("report", "-o", "json").out());
      assertThat(report.at("/gainByModel/h200").asLong()).isEqualTo(40 * GIB - GIB * 15 / 4);
      assertThat(report.at("/items/0/proposed").asLong()).isEqualTo(GIB * 15 / 4);
      assertThat(cluster.run("report", "-n", "nobody").out()).startsWith("0 of 0 shares");
    }
  }
}
