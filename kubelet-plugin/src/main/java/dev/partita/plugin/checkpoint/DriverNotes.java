package dev.partita.plugin.checkpoint;

import dev.partita.cdi.DurableFile;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Notes what the driver was told for a claim, and has to be taken back with it: MIG instances, time slices and MPS
 * daemons. Nothing on a card tells for whom that was done. So if a claim's record is damaged, and its CDI spec removed
 * or not written yet, this alone tells it. It counts only where the claim has no record.
 *
 * <p>A note is a small file: the boot, the claim's name, and a line of each of the three. None of them outlives the
 * boot in which it was made, and neither does the note: {@link #keep}.
 */
public final class DriverNotes {
  private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-------");
  private static final int LINES = 5;

  private final Path folder;

  /** @param folder made when there is something to note */
  public DriverNotes(Path folder) {
    this.folder = folder;
  }

  /**
   * What was noted of a claim.
   *
   * @param made instances that were made for it, or were about to be
   * @param slices time slices that it asks for
   * @param mps UUIDs of cards that it has by MPS
   */
  public record Note(ClaimRef claim, List<MadeInstance> made, List<AskedSlice> slices, Set<String> mps) {
    public Note {
      made = List.copyOf(made);
      slices = List.copyOf(slices);
      mps = Set.copyOf(mps);
    }

    /** UUIDs of the cards of which it speaks. */
    public Set<String> cards() {
      Set<String> cards = new TreeSet<>(mps);
      made.forEach(its -> cards.add(its.card()));
      slices.forEach(its -> cards.add(its.card()));
      return cards;
    }
  }

  /** Takes note of a claim of which a record is about to be written. */
  public void write(PreparedClaim claim) throws IOException {
    List<String> told = List.of(MadeInstance.text(claim).orElse(""), AskedSlice.text(claim).orElse(""),
        claim.grants().stream().filter(grant -> grant.use().mps().isPresent()).map(grant -> grant.card().uuid())
            .collect(Collectors.joining(",")));
    if (told.stream().allMatch(String::isEmpty)) {
      return;
    }
    byte[] note = Stream.of(List.of(claim.bootId(), claim.claim().qualifiedName()), told).flatMap(Collection::stream)
        .collect(Collectors.joining("\n", "", "\n")).getBytes(StandardCharsets.UTF_8);
    Path file = fileOf(claim.claim().uid());
    if (DurableFile.read(file).filter(written -> Arrays.equals(written, note)).isEmpty()) {
      Files.createDirectories(folder);
      DurableFile.replace(file, note, PRIVATE);
    }
  }

  /** What was noted of a claim; empty if nothing was that can be read. */
  public Optional<Note> of(String uid) throws IOException {
    List<String> lines = lines(uid);
    String[] name = lines.size() == LINES ? lines.get(1).split("/", -1) : new String[0];
    return name.length == 2
        ? Optional.of(new Note(new ClaimRef(name[0], name[1], uid), MadeInstance.parse(lines.get(2)),
            AskedSlice.parse(lines.get(3)),
            Stream.of(lines.get(4).split(",", -1)).filter(card -> !card.isEmpty()).collect(Collectors.toSet())))
        : Optional.empty();
  }

  private List<String> lines(String uid) throws IOException {
    return DurableFile.read(fileOf(uid)).map(bytes -> new String(bytes, StandardCharsets.UTF_8).lines().toList())
        .orElse(List.of());
  }

  /** UIDs of the claims of which something was noted. */
  public Set<String> uids() throws IOException {
    if (!Files.isDirectory(folder)) {
      return Set.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      Set<String> uids = new TreeSet<>();
      files.map(file -> String.valueOf(file.getFileName())).filter(ClaimRef::isUid).forEach(uids::add);
      return uids;
    }
  }

  /** Forgets a claim of which all has been taken back. */
  public void remove(String uid) throws IOException {
    Files.deleteIfExists(fileOf(uid));
  }

  /**
   * Forgets what was noted in other boots, what a power cut has left of it, and other claims than these.
   *
   * @param uids claims that have a record, or had one that was set aside
   */
  public void keep(String bootId, Set<String> uids) throws IOException {
    for (String uid : uids()) {
      if (!uids.contains(uid) || of(uid).isEmpty() || !lines(uid).getFirst().equals(bootId)) {
        remove(uid);
      }
    }
  }

  /** Removes what a writer that was killed has left. */
  void removeLeftovers() throws IOException {
    DurableFile.removeLeftovers(folder, "");
  }

  private Path fileOf(String uid) {
    if (!ClaimRef.isUid(uid)) {
      throw new IllegalArgumentException("not a claim's UID: \"" + uid + "\"");
    }
    return folder.resolve(uid);
  }
}
