package dev.partita.plugin.checkpoint;

import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A MIG instance that was made for a claim, as the claim's CDI spec says it in an annotation, and a note beside its
 * record ({@link DriverNotes}): {@code GPU-…=gpu-2-mig-2g-35gb-4}. By it an instance is known as Partita's when the
 * claim's record is lost.
 *
 * @param card UUID
 */
public record MadeInstance(String card, MigSlot slot) {
  /** What is said of a claim; empty if none was made for it. */
  public static Optional<String> text(PreparedClaim claim) {
    List<Grant> made = claim.grants().stream().filter(grant -> grant.use().made().isPresent()).toList();
    return made.isEmpty()
        ? Optional.empty()
        : Optional.of(made.stream().map(grant -> grant.card().uuid() + "=" + grant.device())
            .collect(Collectors.joining(",")));
  }

  /** What such a text says. */
  public static List<MadeInstance> parse(String text) {
    return Arrays.stream(text.split(",")).map(one -> one.split("=", 2)).filter(one -> one.length == 2)
        .flatMap(one -> DeviceName.parse(one[1]).stream()
            .filter(DeviceName.Mig.class::isInstance).map(DeviceName.Mig.class::cast)
            .map(name -> new MadeInstance(one[0], name.slot())))
        .toList();
  }
}
