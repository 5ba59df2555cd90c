package dev.partita.plugin.cardreport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.data.Offset.offset;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UsageRegions;
import dev.partita.plugin.store.OperationLock;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.SampledTimes;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.verdict.CoreState;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@MockApiServer(crud = true)
class CardReportsTest {
  private static final String CARD = "GPU-1";
  private static final long PID = 10;
  private static final long PERIOD = 200_000; // microseconds
  private static final long HOUR = 3_600_000_000L;
  private static final ShareRef A = new ShareRef("a", "share");
  private static final ShareRef B = new ShareRef("b", "share");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  private final Map<ShareRef, ShareUse> uses = new TreeMap<>();
  private final SampledTimes times = new SampledTimes();

  /** The samples that NVML still has of a process that always has half of the card. */
  private final Deque<ProcessSample> samples = new ArrayDeque<>();

  private final Pending region = new Pending(); // of that process' share
  private boolean tells = true; // NVML
  private long nanos = 5_000_000_000L;
  private long epochMicros = 1_700_000_000_000_000L;

  @SuppressWarnings("NullAway.Init") // set before every test
  private OperationLock lock;

  @SuppressWarnings("NullAway.Init") // set before every test
  private CardReports reports;

  @SuppressWarnings("NullAway.Init") // set before every test
  private ProcOfTest proc;

  private long also; // a process that has half of the card, and that no share has yet

  @SuppressWarnings("NullAway.Init") // set before every test
  private DividedSamples divided;

  @SuppressWarnings("NullAway.Init") // set before every test
  private ShareFolders folders;

  @BeforeEach
  void layOut() throws IOException {
    lock = new OperationLock(root.resolve("lock"));
    ShareFolders folders = new ShareFolders(root.resolve("state"), root.resolve("run"), new UsageRegions());
    this.folders = folders;
    divided = new DividedSamples(this::samples);
    proc = new ProcOfTest(root.resolve("proc"));
    reports =
        new CardReports(() -> uses, () -> true, new CardSampling(divided, times), folders, lock, YieldRule.DEFAULT,
            proc.newProcesses(client), () -> new CardLoad.Moment(nanos, epochMicros));
    for (ShareRef ref : List.of(A, B)) {
      uses.put(ref, use(ref));
      Files.createDirectories(folders.quotaFolder(ref.uid(), ref.key()));
      Files.createDirectories(folders.usageFile(ref.uid(), ref.key()).resolveSibling("."));
    }
  }

  @AfterEach
  void close() throws IOException {
    lock.close();
  }

  @Test
  void useIsCountedOnWhenTheTimeOfDayIsSetBack() throws IOException {
    pass(10);
    assertThat(busy(A)).isCloseTo(9 * PERIOD * 1000 / 2, offset(1_000_000L));
    epochMicros -= HOUR;
    pass(10); // until NVML has no more of the samples from before
    long since = busy(A);
    pass(10);
    assertThat(busy(A) - since).isCloseTo(10 * PERIOD * 1000 / 2, offset(1_000_000L));
    assertThat(times.newest(CARD)).isEqualTo(epochMicros);
  }

  @Test
  void useIsCountedOnWhenTheTimeOfDayIsSetForward() throws IOException {
    pass(10);
    epochMicros += HOUR;
    long since = busy(A);
    pass(10);
    assertThat(busy(A) - since).isCloseTo(10 * PERIOD * 1000 / 2, offset(1_000_000L));
  }

  @Test
  void aReportThatCannotBeWrittenKeepsNoOtherShareFromIts() throws IOException {
    Files.createDirectory(file(A));
    assertThatThrownBy(() -> pass(1)).isInstanceOf(IOException.class);
    assertThat(file(B)).content().startsWith("partita-card 1\n");
  }

  @Test
  void aShareWithACoreLimitThatIsAloneOnItsCardGetsReports() throws IOException {
    uses.remove(B);
    pass(10);
    assertThat(busy(A)).isCloseTo(9 * PERIOD * 1000 / 2, offset(1_000_000L));
  }

  @ParameterizedTest
  @CsvSource({"100, HARD", "0, HARD", "25, NONE"})
  void aShareThatIsAloneAndMayTakeAllOfItsCardGetsNone(int cores, CoreLimit limit) throws IOException {
    uses.remove(B);
    uses.put(A, use(A, cores, limit));
    pass(2);
    assertThat(file(A)).doesNotExist();
  }

  @Test
  void aShareThatIsAloneAndNotUsedIsToldOnce() throws IOException {
    uses.remove(A);
    pass(1);
    String said = Files.readString(file(B));
    pass(10);
    assertThat(file(B)).content().isEqualTo(said);
  }

  @Test
  void whereNvmlDoesNotTellNoReportIsWritten() throws IOException {
    tells = false;
    pass(2);
    assertThat(file(A)).doesNotExist();
    tells = true;
    pass(10);
    assertThat(busy(A)).isCloseTo(9 * PERIOD * 1000 / 2, offset(1_000_000L));
    String said = Files.readString(file(A));
    tells = false;
    pass(2);
    assertThat(file(A)).content().isEqualTo(said);
  }

  @Test
  void whatSamplesGiveAShareThatOthersHadIsNotHeldAgainstIt() throws IOException {
    pass(10);
    times.drain();
    pass(20);
    assertThat(drained()).as("alone").isEqualTo(20 * PERIOD * 1000 / 2);
    Pending other = new Pending();
    for (int i = 0; i < 30; i++) {
      other.add(nanos, nanos + PERIOD * 1000);
      Files.write(folders.usageFile(B.uid(), B.key()), other.bytes());
      pass(1);
      if (i == 9) {
        times.drain();
      }
    }
    assertThat(drained()).isPositive().isLessThan(20 * PERIOD * 1000 / 4);
  }

  @Test
  void whoShowsSamplesGetsWhatAProcessHadWhileOthersUseTheCardAndElseWhatNvmlSays() throws IOException {
    pass(10);
    assertThat(percentShown()).isEqualTo(50);
    Pending other = new Pending();
    for (int i = 0; i < 10; i++) {
      other.add(nanos, nanos + PERIOD * 1000);
      Files.write(folders.usageFile(B.uid(), B.key()), other.bytes());
      pass(1);
    }
    assertThat(percentShown()).isBetween(5, 30);
    pass(20);
    assertThat(percentShown()).isEqualTo(50);
  }

  @Test
  void programsThatBeginAnewAreChargedToTheirOwnContainerAloneFromTheFirstSampleOn() throws IOException {
    pass(10);
    long before = busy(A);
    long own = busy(B);
    for (int i = 0; i < 10; i++) {
      also = 1000L + i; // each lives for one period, and is never seen by usage
      proc.begin(also, B);
      pass(1);
      proc.end(also);
    }
    assertThat(busy(A) - before).isCloseTo(10 * PERIOD * 1000 / 2, offset(1_000_000L));
    assertThat(busy(B) - own).isCloseTo(10 * PERIOD * 1000 / 2, offset(1_000_000L));
  }

  @Test
  void aProcessWhoseContainerNobodyKnowsIsChargedToEveryShare() throws IOException {
    pass(10);
    long before = busy(A);
    long own = busy(B);
    also = 1000;
    pass(10);
    assertThat(busy(A) - before).isCloseTo(10 * PERIOD * 1000, offset(1_000_000L));
    assertThat(busy(B) - own).isCloseTo(10 * PERIOD * 1000 / 2, offset(1_000_000L));
  }

  private int percentShown() {
    return divided.of(CARD, 0).known().stream().filter(sample -> sample.pid() == PID)
        .mapToInt(ProcessSample::smPercent).max().orElseThrow();
  }

  private long drained() {
    return Objects.requireNonNull(times.drain().get(CARD)).of(PID);
  }

  private void pass(int periods) throws IOException {
    for (int i = 0; i < periods; i++) {
      nanos += PERIOD * 1000;
      epochMicros += PERIOD;
      Files.write(folders.usageFile(A.uid(), A.key()), region(nanos - PERIOD * 1000, nanos));
      samples.addLast(new ProcessSample(PID, epochMicros, 50, 0, 0, 0));
      if (samples.size() > 5) {
        samples.removeFirst();
      }
      reports.report();
    }
  }

  /** With launches pending in half of the time. */
  private byte[] region(long from, long to) {
    for (long at = from; at < to; at += 2_000_000) {
      region.add(at, at + 1_000_000);
    }
    return region.bytes();
  }

  private CardSamples samples(String card, long newerThan) {
    if (!tells) {
      return new CardSamples.NotTold("the card has no samples of processes");
    }
    List<ProcessSample> newer = new ArrayList<>(samples);
    newer.removeIf(sample -> sample.timestampMicros() <= newerThan);
    List<ProcessSample> told = new ArrayList<>();
    newer.stream().max(Comparator.comparingLong(ProcessSample::timestampMicros)).ifPresent(told::add);
    if (also != 0) {
      told.stream().toList().forEach(one -> told.add(new ProcessSample(also, one.timestampMicros(), 50, 0, 0, 0)));
    }
    return new CardSamples.Told(told);
  }

  private long busy(ShareRef ref) throws IOException {
    String line = Files.readAllLines(file(ref)).stream().filter(l -> l.startsWith("busy ")).findFirst().orElseThrow();
    return Long.parseLong(line.substring("busy ".length()));
  }

  private Path file(ShareRef ref) {
    return root.resolve("state/shares").resolve(ref.uid()).resolve(ref.key()).resolve(CardReport.NAME);
  }

  private static ShareUse use(ShareRef ref) {
    return use(ref, 25, CoreLimit.HARD);
  }

  private static ShareUse use(ShareRef ref, int cores, CoreLimit limit) {
    CardIdentity card = new CardIdentity(0, 0, CARD, "NVIDIA H200", 140L << 30, Optional.empty());
    Share share = new Share(1L << 30, 1L << 30, cores, limit, 1);
    Grant grant = new Grant(List.of("gpu"), "gpu-0-shared", Optional.of(ref.key()), card, new HookedShare(share));
    PreparedClaim claim =
        new PreparedClaim(new ClaimRef("default", ref.uid(), ref.uid()), PreparedClaim.Phase.COMPLETED, "boot",
            List.of(grant), Map.of(), false);
    List<ProcessUse> processes =
        ref.equals(A) ? List.of(new ProcessUse(new ProcessIdentity(PID, 1), 0, 0, 0, 0, 0, true, 0)) : List.of();
    return new ShareUse(new WatchedShare(ref, claim, grant, share), processes, ShareUse.LedgerTotals.NONE,
        new CoreState.Unused(),
        Set.of(), new MemoryState.Held());
  }
}
