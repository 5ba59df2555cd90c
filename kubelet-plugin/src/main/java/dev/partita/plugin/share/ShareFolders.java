package dev.partita.plugin.share;

import dev.partita.cdi.DurableFile;
import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.claim.Grant;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What shares consist of on the host: a folder with the quota file, which the plugin alone writes, and a usage region, which
 * containers write.
 *
 * @param stateRoot holds {@code shares/<claim UID>/<share key>/quota}
 * @param runRoot holds {@code shares/<claim UID>/<share key>/usage}
 */
public record ShareFolders(Path stateRoot, Path runRoot) {
  /** Name of the usage region in a share's folder. */
  public static final String USAGE_NAME = "usage";

  /** PARTITA_USAGE_SIZE of hook-lib/include/partita/usage_region.h, in bytes. */
  public static final int USAGE_SIZE = 528_384;

  private static final Set<PosixFilePermission> READABLE = PosixFilePermissions.fromString("rw-r--r--");
  private static final Set<PosixFilePermission> SHARED = PosixFilePermissions.fromString("rw-rw-rw-");

  /** Folder of a share's quota file. */
  public Path quotaFolder(String uid, String shareKey) {
    return stateRoot.resolve("shares").resolve(uid).resolve(shareKey);
  }

  /** A share's usage region. */
  public Path usageFile(String uid, String shareKey) {
    return runRoot.resolve("shares").resolve(uid).resolve(shareKey).resolve(USAGE_NAME);
  }

  /**
   * Writes the quota, and makes the usage region if it is not there: a region in use is kept as it is, and so is the overhead that
   * was written before.
   */
  public void write(ClaimRef claim, Grant grant, Grant.Share share) throws IOException {
    Path folder = Files.createDirectories(quotaFolder(claim.uid(), grant.shareKey()));
    Path quota = folder.resolve(QuotaFile.NAME);
    String earlier = readOrEmpty(quota);
    String text = QuotaFile.after(earlier, claim, grant, share, QuotaFile.overheadOf(earlier));
    if (!text.equals(earlier)) {
      DurableFile.write(quota, text.getBytes(StandardCharsets.US_ASCII), READABLE);
    }
    Path usage = usageFile(claim.uid(), grant.shareKey());
    Files.createDirectories(Objects.requireNonNull(usage.getParent()));
    if (!Files.exists(usage)) {
      DurableFile.write(usage, new byte[USAGE_SIZE], SHARED);
    } else {
      keepSize(usage);
    }
  }

  /** What the quota file says that contexts and modules take, in bytes; empty if there is no file. */
  public OptionalLong overhead(String uid, String shareKey) throws IOException {
    String text = readOrEmpty(quotaFolder(uid, shareKey).resolve(QuotaFile.NAME));
    return text.isEmpty() ? OptionalLong.empty() : OptionalLong.of(QuotaFile.overheadOf(text));
  }

  /** {@code namespace/name} of the claim as one of its quota files says; empty if it has none, or none that says so. */
  public Optional<String> claimOf(String uid) throws IOException {
    Path claim = stateRoot.resolve("shares").resolve(uid);
    if (!Files.isDirectory(claim)) {
      return Optional.empty();
    }
    try (Stream<Path> shares = Files.list(claim)) {
      for (Path share : shares.sorted().toList()) {
        Optional<String> name = QuotaFile.claimOf(readOrEmpty(share.resolve(QuotaFile.NAME)));
        if (name.isPresent()) {
          return name;
        }
      }
    }
    return Optional.empty();
  }

  /** Writes into the quota what contexts and modules take, in bytes. A share that is not there any more stays so. */
  public void writeOverhead(ClaimRef claim, Grant grant, Grant.Share share, long bytes) throws IOException {
    Path quota = quotaFolder(claim.uid(), grant.shareKey()).resolve(QuotaFile.NAME);
    String earlier = readOrEmpty(quota);
    String text = QuotaFile.after(earlier, claim, grant, share, bytes);
    if (!earlier.isEmpty() && !text.equals(earlier)) {
      DurableFile.removeLeftovers(Objects.requireNonNull(quota.getParent()), QuotaFile.NAME);
      DurableFile.write(quota, text.getBytes(StandardCharsets.US_ASCII), READABLE);
    }
  }

  /** Removes all of a claim's shares; whether there were any. */
  public boolean remove(String uid) throws IOException {
    boolean usage = removeTree(runRoot.resolve("shares").resolve(uid));
    boolean quota = removeTree(stateRoot.resolve("shares").resolve(uid));
    return usage || quota;
  }

  /** UIDs of the claims that have a folder here. */
  public Set<String> uids() throws IOException {
    Set<String> uids = new TreeSet<>();
    for (Path root : List.of(stateRoot, runRoot)) {
      Path shares = root.resolve("shares");
      if (Files.isDirectory(shares)) {
        try (Stream<Path> folders = Files.list(shares)) {
          folders.map(f -> String.valueOf(f.getFileName())).filter(ClaimRef::isUid).forEach(uids::add);
        }
      }
    }
    return uids;
  }

  /** Whether a process holds a lock on a usage region of the claim, as every process with memory of the share does. */
  public boolean isInUse(String uid) throws IOException {
    Path claim = runRoot.resolve("shares").resolve(uid);
    if (!Files.isDirectory(claim)) {
      return false;
    }
    try (Stream<Path> shares = Files.list(claim)) {
      for (Path share : shares.toList()) {
        // One that may not be opened is of a container that has taken the permissions away: who lives in it is not known, and may never be.
        if (RecordLocks.areOn(share.resolve(USAGE_NAME))) {
          return true;
        }
      }
    }
    return false;
  }

  /** A container can cut the region or let it grow; the rest of a cut region becomes zeros, which is a valid ledger. */
  private static void keepSize(Path usage) throws IOException {
    long size = Files.size(usage);
    try (FileChannel channel = FileChannel.open(usage, StandardOpenOption.WRITE)) {
      if (size > USAGE_SIZE) {
        channel.truncate(USAGE_SIZE);
      } else if (size < USAGE_SIZE) {
        channel.write(ByteBuffer.allocate((int) (USAGE_SIZE - size)), size);
      }
    }
  }

  private static String readOrEmpty(Path file) throws IOException {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.US_ASCII);
    } catch (NoSuchFileException e) {
      return "";
    }
  }

  private static boolean removeTree(Path folder) throws IOException {
    if (!Files.exists(folder, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
    return true;
  }
}
