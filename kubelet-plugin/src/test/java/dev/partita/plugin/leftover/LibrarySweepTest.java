package dev.partita.plugin.leftover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.store.OperationLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibrarySweepTest {
  private static final Duration GRACE = Duration.ofMinutes(10);
  private static final String UID = "0b5e8a9e-0000-4000-8000-000000000001";

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  @SuppressWarnings("NullAway.Init") // set before every test
  private HookLibraries libraries;

  @SuppressWarnings("NullAway.Init") private Checkpoint checkpoint;

  @SuppressWarnings("NullAway.Init") private CdiFolder cdi;

  @SuppressWarnings("NullAway.Init") private OperationLock lock;

  @SuppressWarnings("NullAway.Init") private LibrarySweep sweep;

  @SuppressWarnings("NullAway.Init") private Path earlier;

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  @BeforeEach
  void installTwoVersions() throws IOException {
    Path source = Files.createDirectory(root.resolve("source"));
    for (String name : List.of(HookLibraries.CUDA, HookLibraries.NVML, HookLibraries.HOOK)) {
      Files.writeString(source.resolve(name), name);
    }
    libraries = new HookLibraries(source, root.resolve("install"));
    earlier = Objects.requireNonNull(libraries.install().cuda().getParent());
    Files.writeString(source.resolve(HookLibraries.CUDA), "a newer version");
    libraries.install();
    checkpoint = new Checkpoint(root.resolve("claims"), Clock.systemUTC());
    cdi = new CdiFolder(Files.createDirectory(root.resolve("cdi")), "gpu.partita.dev-claim");
    lock = new OperationLock(root.resolve("operation.lock"));
    sweep =
        new LibrarySweep(libraries, checkpoint, cdi, lock, GRACE, ((InstantSource) () -> now).withZone(ZoneOffset.UTC));
  }

  @AfterEach
  void close() throws IOException {
    lock.close();
    checkpoint.close();
  }

  @Test
  void librariesThatNothingNamesGoAfterTheGraceAndTheCurrentOnesStay() throws IOException {
    sweepAfter(Duration.ZERO);
    sweepAfter(GRACE.minusSeconds(1));
    assertThat(earlier).isDirectory();
    sweepAfter(Duration.ofSeconds(1));
    assertThat(earlier).doesNotExist();
    assertThat(libraries.installed()).containsExactly(libraries.current());
    assertThat(root.resolve("install/lib")).isDirectoryNotContaining("glob:**/.unfinished-*");
  }

  @Test
  void librariesThatASpecNamesStayAsLongAsItDoesWhetherOrNotThereIsARecord() throws IOException {
    Path spec =
        Files.writeString(cdi.fileOf(UID), "{\"of a later version\": \"" + earlier.resolve(HookLibraries.HOOK) + "\"}");
    sweepAfter(Duration.ZERO);
    sweepAfter(GRACE);
    assertThat(earlier).isDirectory();
    Files.delete(spec);
    sweepAfter(GRACE);
    assertThat(earlier).as("the grace begins when nothing names them any more").isDirectory();
    sweepAfter(GRACE);
    assertThat(earlier).doesNotExist();
  }

  @Test
  void nothingGoesWhileAPreparedClaimHasLostItsSpec() throws IOException {
    checkpoint.write(
        new PreparedClaim(
            new ClaimRef("default", "claim", UID), PreparedClaim.Phase.COMPLETED, "boot", List.of(Grants.whole("a", 0)),
            Map.of(), false));
    sweepAfter(Duration.ZERO);
    sweepAfter(GRACE);
    assertThat(earlier).isDirectory();
    checkpoint.remove(UID);
    sweepAfter(GRACE);
    sweepAfter(GRACE);
    assertThat(earlier).doesNotExist();
  }

  private void sweepAfter(Duration time) throws IOException {
    now = now.plus(time);
    sweep.sweep();
  }
}
