package dev.partita.plugin.checkpoint;

import dev.partita.cdi.DurableFile;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a record of every claim that was or is being prepared: a folder with one file for each claim, {@code
 * <UID>.claim}. A record that cannot be read is moved aside, to {@code <UID>.claim.unreadable-<time>}, and counts as
 * missing: whoever needs it makes it anew from the claim. A record that another version of the plugin has written is
 * not touched: its claim can be neither prepared nor released, and {@link #foreign} lists it.
 *
 * <p>Records are kept in memory, and only files that have changed are read again, whoever changed them: during a
 * rolling update another plugin writes here, too.
 */
public final class Checkpoint implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Checkpoint.class);
  private static final String SUFFIX = ".claim";
  private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-------");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'").withZone(ZoneOffset.UTC);

  private final Path folder;
  private final Clock clock;

  /**
   * Writers share it. Whoever moves a record aside has it alone, so that no new record is taken for the unreadable one
   * that it replaces.
   */
  private final ReadWriteLock replacing = new ReentrantReadWriteLock();

  private final DriverNotes notes;
  private final FolderChanges changes;
  private final GroupedSync sync = new GroupedSync();
  private final ReentrantLock memory = new ReentrantLock();
  private final SortedMap<String, PreparedClaim> known = new TreeMap<>(); // by UID; under the lock
  private final SortedMap<String, ForeignRecord> foreign = new TreeMap<>(); // likewise, of other versions
  // the records of this version as they were given last; null if they have changed since
  private @Nullable List<PreparedClaim> all;
  private boolean complete; // whether all records are known, but for what changes tells; under the lock

  /** The folder is made if it is not there; {@code driver-notes} beside it when there is something to note. */
  public Checkpoint(Path folder, Clock clock) throws IOException {
    this.folder = folder;
    this.clock = clock;
    this.notes = new DriverNotes(folder.resolveSibling("driver-notes"));
    Files.createDirectories(folder);
    this.changes = new FolderChanges(folder);
  }

  /**
   * Writes a claim's record. When this returns, a completed one is on the disk. One that was only started survives the
   * plugin, but maybe not a power cut, and neither does anything that it stands for.
   */
  public void write(PreparedClaim claim) throws IOException {
    Path file = fileOf(claim.claim().uid());
    byte[] record = ClaimRecord.write(claim);
    notes.write(claim);
    replacing.readLock().lock();
    try {
      switch (claim.phase()) {
        case STARTED -> DurableFile.replace(file, record, PRIVATE);
        case COMPLETED -> DurableFile.write(file, record, PRIVATE, sync);
      }
    } finally {
      replacing.readLock().unlock();
    }
  }

  /**
   * One claim's record.
   *
   * @throws OtherVersionException if another version of the plugin has written it
   */
  public Optional<PreparedClaim> read(String uid) throws IOException {
    fileOf(uid); // refuses what is no UID
    memory.lock();
    try {
      learnChanges();
      @Nullable ForeignRecord ofAnother = foreign.get(uid);
      if (ofAnother != null) {
        throw new OtherVersionException(fileOf(uid).toString(), ofAnother.version());
      }
      return Optional.ofNullable(known.get(uid));
    } finally {
      memory.unlock();
    }
  }

  /** All claims' records of this version, by UID. The same list again as long as none has changed. */
  public List<PreparedClaim> readAll() throws IOException {
    memory.lock();
    try {
      learnChanges();
      List<PreparedClaim> given = all;
      if (given == null) {
        given = List.copyOf(known.values());
        all = given;
      }
      return given;
    } finally {
      memory.unlock();
    }
  }

  private void learnChanges() throws IOException {
    Optional<Set<String>> changed = changes.take();
    boolean anew = !complete || changed.isEmpty();
    complete = false; // until everything that is told here has been read
    if (anew) {
      known.clear();
      foreign.clear();
      all = null;
    }
    for (String uid : anew ? uids() : uidsOf(changed.orElseThrow())) {
      all = null;
      foreign.remove(uid);
      Optional<PreparedClaim> record = readFile(uid);
      if (record.isPresent()) {
        known.put(uid, record.get());
      } else {
        known.remove(uid);
      }
    }
    complete = true;
  }

  private Optional<PreparedClaim> readFile(String uid) throws IOException {
    Path file = fileOf(uid);
    Optional<byte[]> found = DurableFile.read(file);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    byte[] record = found.get();
    Optional<String> otherVersion = ClaimRecord.otherVersion(record);
    if (otherVersion.isPresent()) {
      foreign.put(uid, ClaimRecord.foreign(uid, otherVersion.get(), record));
      return Optional.empty();
    }
    try {
      PreparedClaim claim = ClaimRecord.read(record);
      if (!claim.claim().uid().equals(uid)) {
        throw new IOException("it is of claim " + claim.claim());
      }
      return Optional.of(claim);
    } catch (IOException e) {
      setAside(file, record, String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }

  /** The records that other versions of the plugin have written, by UID. */
  public List<ForeignRecord> foreign() throws IOException {
    memory.lock();
    try {
      learnChanges();
      return List.copyOf(foreign.values());
    } finally {
      memory.unlock();
    }
  }

  /**
   * Removes notes that say nothing any more, before anything is asked: of other boots, and of claims whose record was
   * removed. A plugin of an earlier version, which knows no notes, has released these.
   */
  public void removeStaleNotes(String bootId) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      notes.keep(bootId, files.map(file -> String.valueOf(file.getFileName())).filter(name -> name.contains(SUFFIX))
          .map(name -> name.substring(0, name.indexOf(SUFFIX))).collect(Collectors.toSet()));
    }
  }

  /** What the driver was told for claims whose record may be lost. */
  public DriverNotes notes() {
    return notes;
  }

  /** Removes a claim's record; whether there was one. */
  public boolean remove(String uid) throws IOException {
    return DurableFile.remove(fileOf(uid), sync);
  }

  /** Removes what a writer that was killed has left. */
  public void removeLeftovers() throws IOException {
    DurableFile.removeLeftovers(folder, "");
    notes.removeLeftovers();
  }

  /** Bytes of all its files, those of other versions and those that were set aside included. */
  public long size() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.mapToLong(file -> file.toFile().length()).sum(); // 0 for one that is gone meanwhile
    }
  }

  @Override
  public void close() {
    memory.lock(); // the descriptor of who reads just now must not become another file's
    try {
      changes.close();
    } finally {
      memory.unlock();
    }
  }

  private List<String> uids() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return uidsOf(files.map(file -> String.valueOf(file.getFileName())).toList());
    }
  }

  private static List<String> uidsOf(Collection<String> fileNames) {
    return fileNames.stream()
        .filter(name -> name.endsWith(SUFFIX))
        .map(name -> name.substring(0, name.length() - SUFFIX.length()))
        .filter(ClaimRef::isUid)
        .sorted()
        .toList();
  }

  private void setAside(Path file, byte[] unreadable, String problem) throws IOException {
    Path aside = file.resolveSibling(file.getFileName() + ".unreadable-" + TIME.format(clock.instant()));
    replacing.writeLock().lock();
    try {
      if (!Arrays.equals(Files.readAllBytes(file), unreadable)) {
        return; // made anew meanwhile
      }
      Files.move(file, aside, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      return; // set aside by somebody who read it at the same time
    } finally {
      replacing.writeLock().unlock();
    }
    DurableFile.syncFolder(folder);
    LOG.warn("cannot use checkpoint record {}: {}; moved it to {}; it will be rebuilt from the claim", file, problem,
        aside);
  }

  private Path fileOf(String uid) {
    if (!ClaimRef.isUid(uid)) {
      throw new IllegalArgumentException("not a claim's UID: \"" + uid + "\"");
    }
    return folder.resolve(uid + SUFFIX);
  }
}
