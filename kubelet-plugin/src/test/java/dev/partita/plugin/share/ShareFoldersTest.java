package dev.partita.plugin.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShareFoldersTest {
  private static final String UID = "0b5e8a9e-0000-4000-8000-000000000001";

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  @SuppressWarnings("NullAway.Init") // set before every test
  private ShareFolders folders;

  @SuppressWarnings("NullAway.Init") private Path usage;

  @BeforeEach
  void makeARegion() throws IOException {
    folders = new ShareFolders(root.resolve("state"), root.resolve("run"), new UsageRegions());
    usage = folders.usageFile(UID, "key");
    Files.createDirectories(Objects.requireNonNull(usage.getParent()));
    Files.write(usage, new byte[ShareFolders.USAGE_SIZE]);
  }

  @Test
  void aShareIsInUseAsLongAsSomebodyHoldsALockWhereverItLies() throws IOException {
    assertThat(folders.isInUse(UID)).isFalse();
    try (OtherProcess other = new OtherProcess(usage)) {
      assertThat(folders.isInUse(UID)).isFalse();
      other.lock(ShareFolders.USAGE_SIZE + 4096);
      assertThat(folders.isInUse(UID)).isTrue();
    }
    assertThat(folders.isInUse(UID)).isFalse();
  }

  @Test
  void theLookTakesNoLockThatAProcessWouldFindInItsWay() throws IOException {
    try (FileChannel channel = FileChannel.open(usage, StandardOpenOption.WRITE);
        FileLock _ = channel.lock()) {
      assertThat(folders.isInUse(UID)).as("to take one that this process has already would fail").isFalse();
    }
  }

  @Test
  void aRegionThatIsNoFileIsNotTakenForAnUnusedOne() throws IOException {
    Files.delete(usage);
    assertThat(folders.isInUse(UID)).isFalse();
    Files.createDirectory(usage);
    assertThatThrownBy(() -> folders.isInUse(UID)).isInstanceOf(IOException.class);
  }

  @Test
  void aSizeThatTheDiskHadNoRoomForIsNotInForceOnceTheOldOneIsWrittenAgain() throws IOException {
    write(8);
    Path obstacle = Files.createDirectory(root.resolve("state/quotas/" + UID + "/key.new"));
    assertThatThrownBy(() -> write(16)).isInstanceOf(IOException.class);
    Files.delete(obstacle);
    write(8);
    assertThat(quota()).content().contains("\nmemory " + (8L << 30) + "\n");
  }

  @Test
  void aSizeThatAPluginWasKilledInWritingIsNotInForceOnceTheOldOneIsWrittenAgain() throws IOException {
    write(8);
    Path copy = root.resolve("state/quotas/" + UID + "/key");
    byte[] before = Files.readAllBytes(copy);
    write(16);
    Files.copy(quota(), root.resolve("state/quotas/" + UID + "/key.new"));
    Files.write(copy, before);
    write(8);
    assertThat(quota()).content().contains("\ngeneration 3\n", "\nmemory " + (8L << 30) + "\n");
    assertThat(Files.readAllBytes(copy)).isEqualTo(Files.readAllBytes(quota()));
  }

  private Path quota() {
    return folders.quotaFolder(UID, "key").resolve(QuotaFile.NAME);
  }

  private void write(long gib) throws IOException {
    Grant grant = Grants.share("a", 0, "key", gib, 25);
    folders.write(new ClaimRef("default", "claim", UID), grant, grant.share().orElseThrow());
  }

  /** What the kernel takes for another process: one whose locks are the open file's, not the process'. */
  private static final class OtherProcess implements AutoCloseable {
    private static final int O_RDWR = 2;
    private static final int F_OFD_SETLK = 37;
    private static final NativeLibrary C = NativeLibrary.getInstance("c");
    private static final Function OPEN = C.getFunction("open");
    private static final Function FCNTL = C.getFunction("fcntl");
    private static final Function CLOSE = C.getFunction("close");

    private final int descriptor;

    OtherProcess(Path file) {
      descriptor = OPEN.invokeInt(new Object[]{file.toString(), O_RDWR});
    }

    void lock(long at) {
      Memory flock = new Memory(32);
      flock.clear();
      flock.setShort(0, (short) 1);
      flock.setLong(8, at);
      flock.setLong(16, 1);
      assertThat(FCNTL.invokeInt(new Object[]{descriptor, F_OFD_SETLK, flock})).isZero();
    }

    @Override
    public void close() {
      CLOSE.invokeInt(new Object[]{descriptor});
    }
  }
}
