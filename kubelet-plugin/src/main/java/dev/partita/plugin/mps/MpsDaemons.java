package dev.partita.plugin.mps;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.ClaimRef;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The MPS daemons of this node's cards. Which there have to be follows from the records of claims; nothing else is
 * remembered. Every call may be repeated.
 *
 * @param control how they are begun and ended
 * @param folders where they have their files
 * @param bootId of the kernel that runs: no program of a claim that was prepared under another one is left
 * @param reports takes what happened to the daemon of a claim's card
 */
public record MpsDaemons(
    MpsControl control,
    MpsFolders folders,
    String bootId,
    BiConsumer<ClaimRef, String> reports) {
  private static final Logger LOG = LoggerFactory.getLogger(MpsDaemons.class);
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private static final int OTHERS_WRITE = 0002;
  private static final int OPEN = 01777;

  /** Held while a daemon's folder is made, which keeps what is in the shared memory, and while that is emptied. */
  private static final Object SHARED = new Object();

  /** Files of the shared memory that are looked at at once: programs may have made any number. */
  private static final int MOST_LOOKED = 100_000;

  /** Of one log file: clients write a line each time they come and go. */
  static final long MOST_LOG_BYTES = 4L << 20;

  /**
   * Has the card's daemon run, and give no client more than the largest of these claims has of the card. If it has to
   * be begun, claims that were prepared before, under the same kernel, are told that theirs had ended.
   *
   * @param claims all that there are
   */
  public void provide(CardIdentity card, Collection<PreparedClaim> claims) throws IOException {
    Path pipe = folders.pipe(card.uuid());
    try {
      if (!Files.isDirectory(folders.shared()) || !Files.isSameFile(folders.shared(), SHARED_MEMORY)) {
        throw new IOException(folders.shared() + ", which containers would get as " + SHARED_MEMORY
            + ", is not that of the plugin, and with it of the daemon: mount it there, as the chart does");
      }
      openToAll(folders.shared());
      synchronized (SHARED) {
        Files.createDirectories(pipe);
      }
      Files.createDirectories(folders.log(card.uuid()));
      if (!control.answers(pipe)) {
        control.begin(card.uuid(), pipe, folders.log(card.uuid()));
        LOG.info("{}: its MPS daemon has begun", at(card));
        having(card, claims)
            .filter(claim -> claim.phase() == PreparedClaim.Phase.COMPLETED && claim.bootId().equals(bootId))
            .forEach(claim -> reports.accept(claim.claim(), "the MPS daemon of its card had ended and was begun anew:"
                + " programs that used it have lost their CUDA contexts and must begin again"));
      }
      limit(pipe, MpsCeiling.of(card, claims));
    } catch (IOException e) {
      throw new IOException("the MPS daemon of " + at(card) + " cannot be begun: " + e.getMessage(), e);
    }
  }

  /** Those of some claims that have the card by MPS. */
  static Stream<PreparedClaim> having(CardIdentity card, Collection<PreparedClaim> claims) {
    return claims.stream().filter(claim -> claim.grants().stream()
        .anyMatch(grant -> grant.use().mps().isPresent() && grant.card().uuid().equals(card.uuid())));
  }

  /**
   * Has the card's daemon give no client more than the largest of the claims that are left. One that does not answer is
   * begun anew soon, and told then.
   *
   * @param claims all that there are, one of which at least has the card by MPS
   */
  public void bound(CardIdentity card, Collection<PreparedClaim> claims) {
    Path pipe = folders.pipe(card.uuid());
    try {
      if (control.answers(pipe)) {
        limit(pipe, MpsCeiling.of(card, claims));
      }
    } catch (IOException e) {
      LOG.warn("{}: its MPS daemon is not told that a larger claim is gone: {}", at(card), e.getMessage());
    }
  }

  private void limit(Path pipe, MpsCeiling ceiling) throws IOException {
    control.limit(pipe, ceiling.percent(), ceiling.mebibytes());
  }

  /**
   * Ends a card's daemon, and removes its files; with the last one of the node what is left in the shared memory, too.
   *
   * @param card its UUID
   */
  public void end(String card) throws IOException {
    if (!Files.exists(folders.of(card))) {
      return;
    }
    try {
      control.end(folders.pipe(card));
      remove(folders.of(card));
    } catch (IOException e) {
      throw new IOException("the MPS daemon of card " + card + " cannot be ended: " + e.getMessage(), e);
    }
    LOG.info("card {}: its MPS daemon has ended", card);
    emptyShared();
  }

  /**
   * Removes what programs that were killed have left in the shared memory, once no daemon has its folder any more. The
   * node's own /dev/shm is others' as well, and stays as it is.
   */
  private void emptyShared() {
    synchronized (SHARED) {
      if (folders.shared().equals(SHARED_MEMORY) || !isEmpty(folders.root())) {
        return;
      }
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folders.shared())) {
        int looked = 0;
        for (Path file : files) {
          if (++looked > MOST_LOOKED) {
            break;
          }
          if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            Files.deleteIfExists(file);
          }
        }
      } catch (IOException | DirectoryIteratorException e) {
        LOG.warn("what programs by MPS have left in {} is not removed: {}", folders.shared(), e.toString());
      }
    }
  }

  private static boolean isEmpty(Path folder) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      return !entries.iterator().hasNext();
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether the card's daemon answers. */
  boolean answers(CardIdentity card) throws IOException {
    return control.answers(folders.pipe(card.uuid()));
  }

  /** Empties log files that have grown beyond their bound. The daemon appends, so it goes on at their beginning. */
  void boundLogs(CardIdentity card) throws IOException {
    for (String name : List.of("control.log", "server.log")) {
      Path file = folders.log(card.uuid()).resolve(name);
      if (Files.exists(file) && Files.size(file) > MOST_LOG_BYTES) {
        try (FileChannel log = FileChannel.open(file, StandardOpenOption.WRITE)) {
          log.truncate(0);
        }
      }
    }
  }

  /** As /dev/shm is everywhere: each user makes files there, and removes only its own. */
  private static void openToAll(Path shared) throws IOException {
    if (((Integer) Files.getAttribute(shared, "unix:mode") & OTHERS_WRITE) == 0) {
      Files.setAttribute(shared, "unix:mode", OPEN);
    }
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static String at(CardIdentity card) {
    return "card " + card.uuid() + " (gpu-" + card.index() + ")";
  }
}
