package dev.partita.plugin.leftover;

import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.store.OperationLock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes installed libraries of other versions once no CDI spec names them. A container that is started again mounts
 * them from the path in its claim's spec, for as long as the claim is prepared.
 */
public final class LibrarySweep {
  private static final Logger LOG = LoggerFactory.getLogger(LibrarySweep.class);

  private final HookLibraries libraries;
  private final Checkpoint checkpoint;
  private final CdiFolder cdi;
  private final OperationLock lock;
  private final Duration grace;
  private final Clock clock;
  private final Map<String, Instant> unnamedSince = new HashMap<>();

  /**
   * @param lock under which specs are written
   * @param grace how long nothing must have named them: a container runtime may be about to start what it has read from
   *        an earlier spec
   */
  public LibrarySweep(
      HookLibraries libraries,
      Checkpoint checkpoint,
      CdiFolder cdi,
      OperationLock lock,
      Duration grace,
      Clock clock) {
    this.libraries = libraries;
    this.checkpoint = checkpoint;
    this.cdi = cdi;
    this.lock = lock;
    this.grace = grace;
    this.clock = clock;
  }

  /** Sweeps once. */
  void sweep() throws IOException {
    libraries.holdInstalled(true); // what a process held a lease on when the plugin started
    if (libraries.installed().equals(Set.of(libraries.current()))) {
      unnamedSince.clear(); // nothing to remove, which is as good as always: nobody needs to stand still for that
      return;
    }
    lock.run(
        () -> {
          Instant now = clock.instant();
          Set<String> unnamed = unnamed();
          unnamedSince.keySet().retainAll(unnamed);
          for (String folder : unnamed) {
            if (Duration.between(unnamedSince.computeIfAbsent(folder, f -> now), now).compareTo(grace) >= 0) {
              libraries.remove(folder);
              LOG.info("removed libraries {}: no prepared claim has them any more", folder);
            }
          }
          return true;
        });
  }

  /** The folders that nothing names; none if a prepared claim has lost its spec, since then nobody can tell. */
  private Set<String> unnamed() throws IOException {
    Set<String> unnamed = libraries.installed();
    unnamed.remove(libraries.current());
    if (unnamed.isEmpty()) {
      return unnamed;
    }
    Set<String> specs = new TreeSet<>(cdi.ids());
    if (!specs
        .containsAll(checkpoint.readAll().stream().map(PreparedClaim::claim).map(claim -> claim.uid()).toList())) {
      return Set.of();
    }
    for (String id : specs) {
      // Its text, not what is understood of it: another version may have written it.
      String text = new String(Files.readAllBytes(cdi.fileOf(id)), StandardCharsets.ISO_8859_1);
      unnamed.removeIf(text::contains);
    }
    return unnamed;
  }
}
