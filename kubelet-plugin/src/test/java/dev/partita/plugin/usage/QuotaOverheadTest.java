package dev.partita.plugin.usage;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.share.QuotaFile;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UsageRegions;
import dev.partita.plugin.store.OperationLock;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class QuotaOverheadTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger log = (Logger) LoggerFactory.getLogger(QuotaOverhead.class);

  @BeforeEach
  void listen() {
    log.setLevel(Level.WARN);
    lines.start();
    log.addAppender(lines);
  }

  @AfterEach
  void stopListening() {
    log.detachAppender(lines);
    log.setLevel(null); // as the configuration has it
  }

  @Test
  void aQuotaThatCannotBeWrittenForLongIsOneLineAndOneMoreWhenThatComesBack() throws IOException {
    ShareFolders folders = new ShareFolders(root.resolve("state"), root.resolve("run"), new UsageRegions());
    WatchedShare share = share();
    // a folder cannot be read
    Files.createDirectories(folders.quotaFolder(share.ref().uid(), share.ref().key()).resolve(QuotaFile.NAME));
    try (OperationLock lock = new OperationLock(root.resolve("lock"))) {
      QuotaOverhead quota = new QuotaOverhead(folders, lock);
      for (int second = 0; second < 300; second++) {
        quota.write(share, 1 << 20, 0, START.plusSeconds(second));
      }
      assertThat(lines.list).hasSize(1);
      quota.write(share, 1 << 20, 0, START.plusSeconds(1000));
      assertThat(lines.list).hasSize(2);
    }
  }

  @Test
  void aQuotaThatWasWrittenAnewGetsTheFigureAgainAtOnce() throws IOException {
    ShareFolders folders = new ShareFolders(root.resolve("state"), root.resolve("run"), new UsageRegions());
    try (OperationLock lock = new OperationLock(root.resolve("lock"))) {
      QuotaOverhead quota = new QuotaOverhead(folders, lock);
      for (int preparation = 0; preparation < 2; preparation++) { // with nobody looking in between
        WatchedShare share = share();
        folders.write(share.claim(), share.grant(), share.share());
        quota.write(share, 2 << 20, 300 << 20, START.plusSeconds(3L * preparation));
        quota.write(share, 2 << 20, 300 << 20, START.plusSeconds(3L * preparation + 1));
        assertThat(folders.overhead(share.ref().uid(), share.ref().key()))
            .hasValue(new QuotaFile.Overhead(2 << 20, 300 << 20));
        folders.remove(share.ref().uid());
      }
    }
  }

  private static WatchedShare share() {
    ClaimRef claim = new ClaimRef("default", "claim", "0b5e8a9e-0000-4000-8000-000000000001");
    PreparedClaim prepared =
        new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(Grants.share("a", 0, "key", 8, 25)),
            Map.of(), false);
    return WatchedShare.of(List.of(prepared)).getFirst();
  }
}
