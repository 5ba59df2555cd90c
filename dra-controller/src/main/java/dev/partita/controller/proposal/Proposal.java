package dev.partita.controller.proposal;

import dev.partita.api.Annotations;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a controller is about to allocate to a claim. The claim's annotation says it before the allocation is written:
 * {@code node-0 gpu-0-shared=8589934592/25 gpu-1 #5d3c…} ({@code =8589934592/25/mps} by MPS). Every controller counts
 * it as taken when it looks whether its own proposal may become an allocation.
 *
 * @param node where
 * @param bookings all on that node; none where devices are only looked at
 * @param id tells it from every other proposal, also of the same
 */
public record Proposal(String node, List<Booking> bookings, String id) {
  private static final Pattern ID = Pattern.compile("#([0-9a-f-]{1,36})");

  private static final Pattern SHARE = Pattern.compile("([a-z0-9-]+)=([0-9]{1,18})/([0-9]{1,3})(/mps)?");

  /** The least that a share is given, however little it asks for. */
  private static final long LEAST_MEMORY = 1 << 20;

  /** No proposal is longer: a node's name, and as many devices as a claim can hold. */
  private static final int MOST_CHARACTERS = 4096;

  public Proposal {
    bookings = List.copyOf(bookings);
    if (!bookings.stream().allMatch(booking -> booking.card().node().equals(node))) {
      throw new IllegalArgumentException("a proposal is for one node: " + bookings);
    }
  }

  /** Whether a claim's annotations hold a proposal, be it readable or not. */
  public static boolean isOn(ResourceClaim claim) {
    return textOf(claim).isPresent();
  }

  /** A new one. */
  public static Proposal of(String node, List<Booking> bookings) {
    return new Proposal(node, bookings, UUID.randomUUID().toString());
  }

  /** The claim's annotation, be it readable or not. */
  public static Optional<String> textOf(ResourceClaim claim) {
    return Annotations.value(claim, Driver.PROPOSAL_ANNOTATION);
  }

  /** The claim's proposal; empty if it has none that can be read: nobody could write an allocation from it either. */
  public static Optional<Proposal> of(ResourceClaim claim) {
    return textOf(claim).flatMap(Proposal::parse);
  }

  /**
   * Reads a proposal. Whoever may edit claims can write one, so amounts that no card has are not read, and no sum can
   * overflow.
   */
  public static Optional<Proposal> parse(String text) {
    if (text.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    String[] words = text.split(" ", -1);
    Matcher id = ID.matcher(words[words.length - 1]);
    if (!id.matches() || words.length > ClaimRequest.MOST_RESULTS + 2) {
      return Optional.empty();
    }
    List<Booking> bookings = new ArrayList<>();
    for (int i = 1; i < words.length - 1; i++) {
      Matcher share = SHARE.matcher(words[i]);
      Optional<DeviceName> device = DeviceName.parse(share.matches() ? share.group(1) : words[i]);
      if (device.isEmpty() || share.matches() != isShare(device.get())) {
        return Optional.empty();
      }
      if (share.matches() && (Long.parseLong(share.group(2)) > Booking.MOST_MEMORY
          || Integer.parseInt(share.group(3)) > Booking.MOST_CORES
          || (share.group(4) != null && !mayBeByMps(device.get(), Long.parseLong(share.group(2))))
          || (device.get() instanceof DeviceName.MigShared && Long.parseLong(share.group(2)) == 0))) {
        return Optional.empty();
      }
      CardKey card = new CardKey(words[0], device.get().index());
      bookings.add(
          share.matches()
              ? new Booking(card, device.get(), Long.parseLong(share.group(2)), Integer.parseInt(share.group(3)),
                  share.group(4) != null)
              : new Booking(card, device.get(), 0, 0));
    }
    return words.length < 2 || words[0].isEmpty()
        ? Optional.empty()
        : Optional.of(new Proposal(words[0], bookings, id.group(1)));
  }

  /**
   * Whether a claim with these requests could be given this: no more devices than it asks for, and no share with more
   * memory or cores than a request of it. So whoever writes a proposal on a claim of his can book no more than he could
   * have asked for.
   */
  public boolean isWithin(ClaimRequest claim) {
    long devices = claim.requests().stream().mapToLong(Proposal::mostDevices).sum();
    List<DeviceRequest> alternatives =
        claim.requests().stream().flatMap(request -> request.alternatives().stream()).filter(Proposal::takes).toList();
    return bookings.size() <= devices
        && bookings.stream()
            .filter(booking -> isShare(booking.device()))
            .allMatch(share -> alternatives.stream().anyMatch(alternative -> isWithin(share, alternative)));
  }

  private static long mostDevices(ClaimRequest.NamedRequest request) {
    return request.alternatives().stream()
        .filter(Proposal::takes)
        .mapToLong(alternative -> alternative.count() instanceof DeviceRequest.Count.Exactly(int count)
            ? count
            : ClaimRequest.MOST_RESULTS)
        .max()
        .orElse(0);
  }

  private static boolean isShare(DeviceName device) {
    return device.mode().isShared();
  }

  private static boolean mayBeByMps(DeviceName device, long memory) {
    return device instanceof DeviceName.Shared && memory > 0;
  }

  private static boolean takes(DeviceRequest request) {
    return !request.isAdminAccess();
  }

  /** A part in percent, and what is not said, depend on the card: these are held by the card's own size alone. */
  private static boolean isWithin(Booking share, DeviceRequest request) {
    SharingStrategy strategy = request.strategyOfShare();
    if (share.isTurn() != strategy instanceof SharingStrategy.TimeSlicing
        || share.mps() != strategy instanceof SharingStrategy.Mps) {
      return false;
    }
    boolean memory =
        !(request.memory() instanceof MemoryRequest.Bytes(long bytes))
            || share.memory() <= Math.max(bytes, LEAST_MEMORY);
    return memory && share.cores() <= request.cores().orElse(0);
  }

  /** As the annotation says it. */
  @Override
  public String toString() {
    return node
        + bookings.stream()
            .map(
                booking -> switch (booking.device()) {
                  case DeviceName.Whole _,DeviceName.Mig _ -> " " + booking.device();
                  case DeviceName.Shared _,DeviceName.Opaque _,DeviceName.MigShared _ ->
                      " " + booking.device() + "=" + booking.memory() + "/" + booking.cores()
                          + (booking.mps() ? "/mps" : "");
                })
            .collect(Collectors.joining())
        + " #"
        + id;
  }
}
