package dev.partita.plugin.checkpoint;

import static dev.partita.plugin.grant.Grants.admin;
import static dev.partita.plugin.grant.Grants.alone;
import static dev.partita.plugin.grant.Grants.share;
import static dev.partita.plugin.grant.Grants.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.AdminAccess;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.grant.Growth;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.grant.Share;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckpointTest {
  private static final CardUse GROWN = new HookedShare(new Share(12L << 30, 12L << 30, 0, CoreLimit.HARD, 1,
      Optional.empty(), Optional.of(new Growth(20L << 30, 4L << 30))));
  private static final PreparedClaim CLAIM =
      new PreparedClaim(
          new ClaimRef("default", "train", "uid-1"),
          Phase.COMPLETED,
          "boot-1",
          List.of(share("a", 0, "k", 8, 25), whole("b", 1), admin("c", 2), alone(share("d", 3, "l", 8, 0)),
              new Grant(List.of("e"), "gpu-3-shared", Optional.of("m"), Grants.card(3), GROWN),
              new Grant(List.of("f"), "gpu-4-mig-2g-0", Optional.empty(), Grants.card(4),
                  new AdminAccess(Optional.of(new MigInstance("2g", 0, 2, 20L << 30))))),
          Map.of("k", List.of("A=b")),
          true,
          Optional.of(new MetadataNames(Optional.of("gpu"), Map.of("a", "a/large"), Set.of("b"))));

  @TempDir Path folder;
  @SuppressWarnings("NullAway.Init") private Checkpoint checkpoint;

  @BeforeEach
  void open() throws IOException {
    checkpoint = new Checkpoint(folder, Clock.fixed(Instant.parse("2026-01-02T03:04:05Z"), ZoneOffset.UTC));
  }

  @AfterEach
  void close() {
    checkpoint.close();
  }

  @Test
  void whatTheDriverWasToldIsKnownUntilTheNextBootWhereARecordIsDamagedAndNotWhereItWasRemoved() throws IOException {
    Path root = Files.createDirectory(folder.resolve("state"));
    try (Checkpoint records = new Checkpoint(root.resolve("claims"), Clock.systemUTC())) {
      PreparedClaim claim = new PreparedClaim(new ClaimRef("default", "cut", "uid-2"), Phase.STARTED, "boot-1",
          List.of(Grants.instance("a", 0, 4, 2)), Map.of(), false);
      records.write(claim);
      Files.writeString(root.resolve("claims/uid-2.claim"), "garbage");
      assertThat(records.read("uid-2")).isEmpty();
      records.removeStaleNotes("boot-1");
      assertThat(records.notes().of("uid-2")).hasValueSatisfying(note -> {
        assertThat(note.claim()).isEqualTo(claim.claim());
        assertThat(note.made()).isEqualTo(MadeInstance.parse("GPU-0=gpu-0-mig-2g-4")).hasSize(1);
      });
      records.removeStaleNotes("boot-2");
      assertThat(records.notes().uids()).isEmpty();
      PreparedClaim other = new PreparedClaim(new ClaimRef("default", "next", "uid-3"), Phase.STARTED, "boot-2",
          claim.grants(), Map.of(), false);
      records.write(other);
      records.remove("uid-3"); // as an earlier version does
      records.removeStaleNotes("boot-2");
      assertThat(records.notes().uids()).isEmpty();
    }
  }

  /** The file is what the plugin wrote before it had a class a strategy; the last one came later. */
  @Test
  void recordsOfEveryStrategyStayAsTheyEverWere() throws IOException {
    byte[] record;
    try (InputStream file = Objects.requireNonNull(getClass().getResourceAsStream("every-strategy.claim"))) {
      record = file.readAllBytes();
    }
    PreparedClaim claim = ClaimRecord.read(record);
    assertThat(claim.grants()).extracting(grant -> grant.use().getClass().getName())
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(CardUse.class.getPermittedSubclasses()).map(Class::getName).toList());
    assertThat(ClaimRecord.write(claim)).isEqualTo(record);
  }

  @Test
  void whoReadsAfterTheEndWatchesNothing() throws IOException {
    FolderChanges changes = new FolderChanges(folder);
    assertThat(changes.isWatching()).isTrue();
    changes.close();
    assertThat(changes.take()).as("any may have changed").isEmpty();
    assertThat(changes.isWatching()).isFalse();
  }

  @Test
  void whatIsWrittenIsReadAgain() throws IOException {
    checkpoint.write(CLAIM);
    assertThat(checkpoint.read("uid-1")).contains(CLAIM);
    assertThat(checkpoint.readAll()).containsExactly(CLAIM);
    assertThat(checkpoint.remove("uid-1")).isTrue();
    assertThat(checkpoint.read("uid-1")).isEmpty();
    assertThat(checkpoint.remove("uid-1")).isFalse();
  }

  @Test
  void aRecordOfAPluginThatWroteNoDeviceMetadataHasNoNamesForIt() throws IOException {
    PreparedClaim earlier = new PreparedClaim(
        CLAIM.claim(), CLAIM.phase(), CLAIM.bootId(), CLAIM.grants(), CLAIM.env(), CLAIM.mixed());
    checkpoint.write(earlier);
    assertThat(folder.resolve("uid-1.claim")).content().doesNotContain("metadata");
    assertThat(checkpoint.read("uid-1")).contains(earlier);
    PreparedClaim byName = new PreparedClaim(
        CLAIM.claim(), CLAIM.phase(), CLAIM.bootId(), CLAIM.grants(), CLAIM.env(), CLAIM.mixed(),
        Optional.of(new MetadataNames(Optional.empty(), Map.of(), Set.of())));
    checkpoint.write(byName);
    assertThat(checkpoint.read("uid-1")).as("names of which none is needed").contains(byName);
  }

  @Test
  void aTornRecordThatSeveralReadAtOnceIsNotThereForAnyOfThem() throws Exception {
    int readers = 8;
    try (ExecutorService threads = Executors.newFixedThreadPool(readers)) {
      for (int round = 0; round < 50; round++) {
        Files.writeString(folder.resolve("uid-1.claim"), "garbage");
        CyclicBarrier together = new CyclicBarrier(readers);
        Callable<List<PreparedClaim>> reader =
            () -> {
              together.await();
              return checkpoint.readAll();
            };
        for (Future<List<PreparedClaim>> reading : threads.invokeAll(Collections.nCopies(readers, reader))) {
          assertThat(reading.get()).isEmpty();
        }
        checkpoint.write(CLAIM);
        assertThat(checkpoint.readAll()).containsExactly(CLAIM);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 10, 60, 95, 120, 400})
  void aTornRecordIsSetAsideUnderItsName(int length) throws IOException {
    checkpoint.write(CLAIM);
    byte[] whole = Files.readAllBytes(folder.resolve("uid-1.claim"));
    Files.write(folder.resolve("uid-1.claim"), java.util.Arrays.copyOf(whole, length));
    assertThat(checkpoint.readAll()).isEmpty();
    assertThat(folder.toFile().list()).containsExactly("uid-1.claim.unreadable-20260102T030405.000Z");
    checkpoint.write(CLAIM);
    assertThat(checkpoint.readAll()).containsExactly(CLAIM);
  }

  @Test
  void everyFlippedBitIsSeen() throws IOException {
    checkpoint.write(CLAIM);
    byte[] good = Files.readAllBytes(folder.resolve("uid-1.claim"));
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 4;
      Files.write(folder.resolve("uid-1.claim"), bad);
      if (i == "partita-checkpoint ".length()) { // then it says that another version has written it
        assertThatThrownBy(() -> checkpoint.read("uid-1")).isInstanceOf(OtherVersionException.class);
      } else {
        assertThat(checkpoint.read("uid-1")).as("byte %d", i).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "partita-checkpoint 2 sha256:00\n{\"claim\": {\"name\": \"train\"}, \"cards\": [{\"id\": \"GPU-a1\"}, [\"GPU-b2\"]]}",
        "partita-checkpoint 17 crc:1 zstd\n\u0001\u0002",
        "partita-checkpoint 2",
      })
  void aRecordOfAnotherVersionIsNeitherReadNorMovedNorCounted(String record) throws IOException {
    checkpoint.write(CLAIM);
    Files.writeString(folder.resolve("uid-2.claim"), record);
    assertThatThrownBy(() -> checkpoint.read("uid-2"))
        .isInstanceOf(OtherVersionException.class)
        .hasMessageContaining("uid-2.claim")
        .hasMessageContaining("this plugin reads 1");
    assertThat(checkpoint.readAll()).containsExactly(CLAIM);
    assertThat(folder.toFile().list()).containsExactlyInAnyOrder("uid-1.claim", "uid-2.claim");
    assertThat(folder.resolve("uid-2.claim")).content().isEqualTo(record);
    assertThat(checkpoint.foreign()).extracting(ForeignRecord::uid).containsExactly("uid-2");
  }

  @Test
  void ofARecordOfAnotherVersionTheCardsAreToldThatItNames() throws IOException {
    Files.writeString(
        folder.resolve("uid-2.claim"),
        "partita-checkpoint 2 sha256:00\n{\"namespace\": \"a\", \"name\": \"b\", \"x\": [{\"id\": \"GPU-1\"}, [\"GPU-2\", 3]]}");
    assertThat(checkpoint.foreign())
        .containsExactly(new ForeignRecord("uid-2", "2", Optional.of("a"), Optional.of("b"), Set.of("GPU-1", "GPU-2")));
  }

  @Test
  void fieldsOfALaterProgramAreSkipped() throws Exception {
    checkpoint.write(CLAIM);
    String record = Files.readString(folder.resolve("uid-1.claim"));
    String body = record.substring(record.indexOf('\n') + 1).replaceFirst("\\{", "{\"later\": [1, 2],");
    String digest =
        HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body.getBytes(StandardCharsets.UTF_8)));
    Files.writeString(folder.resolve("uid-1.claim"), "partita-checkpoint 1 sha256:" + digest + "\n" + body);
    assertThat(checkpoint.read("uid-1")).contains(CLAIM);
  }

  @Test
  void whatAnotherPluginWritesAndRemovesIsSeenAtOnce() throws IOException {
    PreparedClaim second = new PreparedClaim(new ClaimRef("default", "second", "uid-2"), Phase.STARTED, "boot-1",
        List.of(), Map.of(), false);
    try (Checkpoint other = new Checkpoint(folder, Clock.systemUTC())) {
      assertThat(checkpoint.readAll()).isEmpty();
      for (int round = 0; round < 50; round++) {
        other.write(CLAIM);
        assertThat(checkpoint.readAll()).containsExactly(CLAIM);
        other.write(second);
        assertThat(checkpoint.read("uid-2")).contains(second);
        other.write(second.in(Phase.COMPLETED));
        assertThat(checkpoint.readAll()).containsExactly(CLAIM, second.in(Phase.COMPLETED));
        assertThat(other.remove("uid-1")).isTrue();
        assertThat(checkpoint.read("uid-1")).isEmpty();
        assertThat(other.remove("uid-2")).isTrue();
        assertThat(checkpoint.readAll()).isEmpty();
      }
    }
  }

  @Test
  void aFolderThatWasReplacedIsReadAnew() throws IOException {
    checkpoint.write(CLAIM);
    assertThat(checkpoint.readAll()).containsExactly(CLAIM);
    Path aside = folder.resolveSibling(folder.getFileName() + "-aside");
    Files.move(folder, aside);
    Files.createDirectory(folder);
    assertThat(checkpoint.readAll()).isEmpty();
    checkpoint.write(CLAIM);
    assertThat(checkpoint.readAll()).containsExactly(CLAIM);
    Files.delete(aside.resolve("uid-1.claim"));
    Files.delete(aside);
  }

  @Test
  void moreChangesThanTheKernelKeepsAreNotLost() throws IOException {
    assertThat(checkpoint.readAll()).isEmpty();
    checkpoint.write(CLAIM);
    for (int i = 0; i < 9_000; i++) { // two events each, and 16,384 are kept by default
      Files.createFile(folder.resolve("x" + i));
      Files.delete(folder.resolve("x" + i));
    }
    checkpoint.remove("uid-1");
    assertThat(checkpoint.readAll()).isEmpty();
    checkpoint.write(CLAIM);
    assertThat(checkpoint.readAll()).containsExactly(CLAIM);
  }
}
