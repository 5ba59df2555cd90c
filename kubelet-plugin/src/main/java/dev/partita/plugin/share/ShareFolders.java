package dev.partita.plugin.share;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import dev.partita.cdi.DurableFile;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * The files of shares on the host: for each share a folder with the quota file, which only the plugin writes, and a
 * usage region, which containers write. Neither is forced to the disk. No container outlives its kernel, and before
 * kubelet starts one after a reboot it has the claim prepared again, which writes both anew.
 *
 * <p>The folder is mounted in the claim's containers. They can hold a lease on the quota file, so that whoever opens it
 * has to wait. So the plugin also keeps what it wrote last where no container can open it, and reads it there.
 *
 * @param stateRoot holds {@code shares/<claim UID>/<share key>/quota} and {@code quotas/<claim UID>/<share key>}
 * @param runRoot holds {@code shares/<claim UID>/<share key>/usage}
 * @param regions keeps the usage regions open
 */
public record ShareFolders(Path stateRoot, Path runRoot, UsageRegions regions) {
  /** Name of the usage region in a share's folder. */
  public static final String USAGE_NAME = "usage";

  /** PARTITA_USAGE_SIZE of hook-lib/include/partita/usage_region.h, in bytes. */
  public static final int USAGE_SIZE = 528_384;

  /** A uid that no container starts with: Kubernetes allows 2147483647 at most (runAsUser). */
  private static final int NOBODYS_UID = -2;

  /** PARTITA_QUOTA_LIMIT of hook-lib/include/partita/quota_file.h. */
  private static final int MOST_QUOTA_BYTES = 4096;

  /**
   * How long a preparation waits until a region has its size again: only a container that is in the middle of changing
   * it takes longer.
   */
  private static final long RESIZE_MILLIS = 500;

  private static final Function CHOWN = NativeLibrary.getInstance("c").getFunction("lchown");

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
   * Writes the quota, and makes the usage region if it is not there: a region in use is kept as it is, and so is the
   * overhead that was written before.
   */
  public void write(ClaimRef claim, Grant grant, Share share) throws IOException {
    Path folder = Files.createDirectories(quotaFolder(claim.uid(), grant.shareKey()));
    Path quota = folder.resolve(QuotaFile.NAME);
    String earlier = written(claim.uid(), grant.shareKey());
    String text = QuotaFile.after(earlier, claim, grant, share, QuotaFile.overheadOf(earlier));
    if (isUnfinished(claim.uid(), grant.shareKey()) || !text.equals(earlier) || !Files.exists(quota)) {
      writeQuota(claim.uid(), grant.shareKey(), text);
    }
    Path usage = usageFile(claim.uid(), grant.shareKey());
    Files.createDirectories(Objects.requireNonNull(usage.getParent()));
    if (!Files.exists(usage)) {
      DurableFile.replaceWithZeros(usage, USAGE_SIZE, SHARED);
      disown(usage);
    } else {
      keepSize(usage);
    }
    // So that it is open before there is a container that could take a lease.
    regions.read(usage, UntrustedFile::size, -1L);
  }

  /** What the quota file says that contexts and modules take; empty if there is no file. */
  public Optional<QuotaFile.Overhead> overhead(String uid, String shareKey) throws IOException {
    boolean there = Files.exists(quotaFolder(uid, shareKey).resolve(QuotaFile.NAME));
    return there ? Optional.of(QuotaFile.overheadOf(written(uid, shareKey))) : Optional.empty();
  }

  /** {@code namespace/name} of the claim as one of its quota files says; empty if it has none, or none that says so. */
  public Optional<String> claimOf(String uid) throws IOException {
    Path claim = stateRoot.resolve("shares").resolve(uid);
    if (!Files.isDirectory(claim)) {
      return Optional.empty();
    }
    try (Stream<Path> shares = Files.list(claim)) {
      for (Path share : shares.sorted().toList()) {
        Optional<String> name = QuotaFile.claimOf(written(uid, String.valueOf(share.getFileName())));
        if (name.isPresent()) {
          return name;
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Writes into the quota what contexts and modules take, and leaves the rest of it as it is. A share that is not there
   * any more is not made anew.
   */
  public void writeOverhead(String uid, String shareKey, QuotaFile.Overhead overhead) throws IOException {
    Path folder = quotaFolder(uid, shareKey);
    String earlier = written(uid, shareKey);
    String text = QuotaFile.withOverhead(earlier, overhead);
    if (Files.exists(folder.resolve(QuotaFile.NAME)) && (isUnfinished(uid, shareKey) || !text.equals(earlier))) {
      DurableFile.removeLeftovers(folder, QuotaFile.NAME);
      writeQuota(uid, shareKey, text);
    }
  }

  /**
   * Writes the quota between the two halves of its copy. If this ends in between, the file may be either, so the next
   * one writes it whatever it says.
   */
  private void writeQuota(String uid, String shareKey, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    Path begun = begun(uid, shareKey);
    Files.createDirectories(Objects.requireNonNull(begun.getParent()));
    Files.write(begun, bytes);
    DurableFile.replace(quotaFolder(uid, shareKey).resolve(QuotaFile.NAME), bytes, READABLE);
    Files.move(begun, copy(uid, shareKey), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Whether a plugin ended while it wrote the quota, or could not: the file may say something else than the copy. */
  private boolean isUnfinished(String uid, String shareKey) {
    return Files.exists(begun(uid, shareKey));
  }

  /**
   * The quota as it was written last, of a generation that the file cannot have with another content; empty if it never
   * was.
   */
  private String written(String uid, String shareKey) throws IOException {
    String last = lastWritten(uid, shareKey);
    return isUnfinished(uid, shareKey)
        ? QuotaFile.behind(last, Files.readString(begun(uid, shareKey), StandardCharsets.ISO_8859_1))
        : last;
  }

  private String lastWritten(String uid, String shareKey) throws IOException {
    try {
      String text = Files.readString(copy(uid, shareKey), StandardCharsets.ISO_8859_1);
      if (QuotaFile.isComplete(text)) { // it is not written durably
        return text;
      }
    } catch (NoSuchFileException e) {
      // a share of an earlier version
    }
    byte[] quota = UntrustedFile.readAll(quotaFolder(uid, shareKey).resolve(QuotaFile.NAME), MOST_QUOTA_BYTES);
    return quota == null ? "" : new String(quota, StandardCharsets.ISO_8859_1);
  }

  private Path copy(String uid, String shareKey) {
    return stateRoot.resolve("quotas").resolve(uid).resolve(shareKey);
  }

  private Path begun(String uid, String shareKey) {
    return copy(uid, shareKey).resolveSibling(shareKey + ".new");
  }

  /** Removes all of a claim's shares; whether there were any. */
  public boolean remove(String uid) throws IOException {
    Path run = runRoot.resolve("shares").resolve(uid);
    boolean usage = FolderTree.remove(run);
    regions.forgetBelow(run);
    // before the rest: what is left is searched for by that
    FolderTree.remove(stateRoot.resolve("quotas").resolve(uid));
    boolean quota = FolderTree.remove(stateRoot.resolve("shares").resolve(uid));
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

  /** What the quota files of a claim allow, by share key. */
  public Map<String, QuotaFile.Limits> limits(String uid) throws IOException {
    Map<String, QuotaFile.Limits> limits = new TreeMap<>();
    Path claim = stateRoot.resolve("shares").resolve(uid);
    if (Files.isDirectory(claim)) {
      try (Stream<Path> shares = Files.list(claim)) {
        for (Path share : shares.toList()) {
          QuotaFile.limitsOf(written(uid, String.valueOf(share.getFileName())))
              .ifPresent(found -> limits.put(String.valueOf(share.getFileName()), found));
        }
      }
    }
    return limits;
  }

  /** Whether a process holds a lock on a usage region of the claim, as every process with memory of the share does. */
  public boolean isInUse(String uid) throws IOException {
    Path claim = runRoot.resolve("shares").resolve(uid);
    if (!Files.isDirectory(claim)) {
      return false;
    }
    try (Stream<Path> shares = Files.list(claim)) {
      for (Path share : shares.toList()) {
        if (isLocked(share.resolve(USAGE_NAME))) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isLocked(Path usage) throws IOException {
    return switch (regions.open(usage)) {
      case UntrustedFile.Opening.Opened opened -> {
        try {
          yield opened.file().locks().areThere();
        } finally {
          opened.file().release();
        }
      }
      case UntrustedFile.Opening.Leased ignored -> true; // by a process that lives
      case UntrustedFile.Opening.Failed failed -> {
        // One that may not be opened is of a container that has taken the permissions away: who lives in it is not
        // known, and may never be.
        if (failed.error() == RecordLocks.ENOENT || failed.error() == RecordLocks.EACCES) {
          yield false;
        }
        throw new IOException(usage + " cannot be opened to see who has locked it: error " + failed.error());
      }
    };
  }

  /** A container can cut the region or let it grow; the rest of a cut region becomes zeros, which is a valid ledger. */
  private void keepSize(Path usage) throws IOException {
    if (regions.read(usage, UntrustedFile::size, -1L) == USAGE_SIZE) {
      return;
    }
    try {
      regions.change(usage, file -> file.cut(USAGE_SIZE)).get(RESIZE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | CancellationException e) {
      // held up by the container, whose harm it is
    } catch (ExecutionException e) {
      throw new IOException(usage + " cannot be given its size", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(usage + " was not given its size");
    }
  }

  /**
   * Gives a region to an owner that no container runs as, since only a file's owner gets a lease on it. Without the
   * right to do that it stays root's. A container with the capabilities CHOWN or SETUID is not kept from a lease;
   * {@link UsageRegions} bounds what it gains by that.
   */
  private static void disown(Path usage) {
    CHOWN.invokeInt(new Object[]{usage.toString(), NOBODYS_UID, NOBODYS_UID});
  }

}
