package dev.partita.plugin.checkpoint;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The time slice that a claim asks for of a card, as the claim's CDI spec says it in an annotation, and a note beside
 * its record ({@link DriverNotes}): {@code GPU-…=LONG}. By it that is known when the claim's record is lost.
 *
 * @param card UUID
 */
public record AskedSlice(String card, TimeSlice slice) {
  /** What is said of a claim; empty if it asks for none. */
  public static Optional<String> text(PreparedClaim claim) {
    String asked = claim.grants().stream().flatMap(grant -> of(grant).stream())
        .map(one -> one.card() + "=" + one.slice().name()).collect(Collectors.joining(","));
    return asked.isEmpty() ? Optional.empty() : Optional.of(asked);
  }

  private static Optional<AskedSlice> of(Grant grant) {
    return grant.use().timeSlicing().filter(its -> its.interval() != TimeSlice.DEFAULT)
        .map(its -> new AskedSlice(grant.card().uuid(), its.interval()));
  }

  /** What such a text says. */
  public static List<AskedSlice> parse(String text) {
    return Arrays.stream(text.split(",", -1)).map(one -> one.split("=", 2)).filter(one -> one.length == 2)
        .flatMap(one -> Stream.of(TimeSlice.values()).filter(slice -> slice.name().equals(one[1]))
            .map(slice -> new AskedSlice(one[0], slice)))
        .toList();
  }
}
