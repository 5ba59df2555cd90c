package dev.partita.plugin.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.resize.ShareSize;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.AdminAccess;
import dev.partita.plugin.grant.BookedShare;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.ExclusiveShare;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Growth;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.InstanceShare;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.grant.Mps;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.grant.StaticInstance;
import dev.partita.plugin.grant.TimeSlicing;
import dev.partita.plugin.grant.WholeCard;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes a record's bytes: one line {@code partita-checkpoint <version> sha256:<of the rest>}, then JSON. The
 * checksum covers the bytes as they are, so that a newer program can read what an older one wrote. Unknown fields are
 * skipped. A change that an older program must not skip gets the next version number; the older program then leaves the
 * record alone.
 */
final class ClaimRecord {
  private static final String MAGIC = "partita-checkpoint";
  static final String VERSION = "1";
  private static final Pattern OTHER_VERSION = Pattern.compile("[1-9][0-9]{0,8}");
  private static final Pattern CARD = Pattern.compile("(?:GPU|OPAQUE)-[0-9A-Za-z-]{1,64}");
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private ClaimRecord() {}

  static byte[] write(PreparedClaim claim) {
    try {
      byte[] body = MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(ClaimJson.of(claim));
      byte[] head = (MAGIC + " " + VERSION + " sha256:" + sha256(body) + "\n").getBytes(StandardCharsets.US_ASCII);
      byte[] record = java.util.Arrays.copyOf(head, head.length + body.length);
      System.arraycopy(body, 0, record, head.length, body.length);
      return record;
    } catch (IOException e) {
      throw new IllegalStateException("a record is always JSON", e);
    }
  }

  /** Reads a record of this version; an IOException says what is wrong with it. */
  static PreparedClaim read(byte[] record) throws IOException {
    int newline = endOfHead(record);
    String[] head = head(record, newline);
    if (newline == record.length || head.length != 3 || !head[0].equals(MAGIC)) {
      throw new IOException("it does not begin with a line of " + MAGIC);
    }
    if (!head[1].equals(VERSION)) {
      throw new IOException("it has version " + head[1] + ", this program reads " + VERSION);
    }
    byte[] body = java.util.Arrays.copyOfRange(record, newline + 1, record.length);
    if (!head[2].equals("sha256:" + sha256(body))) {
      throw new IOException("its checksum does not match its content");
    }
    try {
      return MAPPER.readValue(body, ClaimJson.class).toClaim();
    } catch (RuntimeException e) {
      throw new IOException("its content is not complete: " + e.getMessage(), e);
    }
  }

  /**
   * The version of a record that another version of the plugin has written; empty for one of this version and for what
   * is no record. Only the first two words are looked at: what follows them is that version's own.
   */
  static Optional<String> otherVersion(byte[] record) {
    String[] head = head(record, endOfHead(record));
    return head.length >= 2 && head[0].equals(MAGIC) && OTHER_VERSION.matcher(head[1]).matches()
        && !head[1].equals(VERSION)
            ? Optional.of(head[1])
            : Optional.empty();
  }

  /** What can be told of a record of another version. */
  static ForeignRecord foreign(String uid, String version, byte[] record) {
    int begin = Math.min(record.length, endOfHead(record) + 1);
    JsonNode body = MAPPER.missingNode();
    try {
      body = Objects.requireNonNullElse(MAPPER.readTree(record, begin, record.length - begin), body);
    } catch (IOException e) {
      // what it holds is not known, then
    }
    Set<String> cards = new TreeSet<>();
    collectCards(body, cards);
    return new ForeignRecord(uid, version, text(body, "namespace"), text(body, "name"), cards);
  }

  /**
   * Collects the UUIDs of cards that stand anywhere in a record. It keeps a list of what is still to be looked at,
   * since nobody knows how deep a newer record nests.
   */
  private static void collectCards(JsonNode body, Set<String> into) {
    Deque<JsonNode> left = new ArrayDeque<>(List.of(body));
    while (!left.isEmpty()) {
      JsonNode node = left.pop();
      if (node.isTextual() && CARD.matcher(node.textValue()).matches()) {
        into.add(node.textValue());
      }
      node.forEach(left::push);
    }
  }

  private static Optional<String> text(JsonNode body, String field) {
    return Optional.ofNullable(body.path(field).textValue());
  }

  private static int endOfHead(byte[] record) {
    int newline = 0;
    while (newline < record.length && record[newline] != '\n') {
      newline++;
    }
    return newline;
  }

  private static String[] head(byte[] record, int newline) {
    return new String(record, 0, newline, StandardCharsets.US_ASCII).split(" ", -1);
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ClaimJson(
      String namespace,
      String name,
      String uid,
      PreparedClaim.Phase phase,
      String bootId,
      List<GrantJson> grants,
      Map<String, List<String>> env,
      boolean mixed,
      @Nullable NamesJson metadata) {

    static ClaimJson of(PreparedClaim claim) {
      return new ClaimJson(
          claim.claim().namespace(),
          claim.claim().name(),
          claim.claim().uid(),
          claim.phase(),
          claim.bootId(),
          claim.grants().stream().map(GrantJson::of).toList(),
          claim.env(),
          claim.mixed(),
          claim.names().map(NamesJson::of).orElse(null));
    }

    PreparedClaim toClaim() {
      return new PreparedClaim(
          new ClaimRef(namespace, name, uid), phase, bootId, grants.stream().map(GrantJson::toGrant).toList(), env,
          mixed, Optional.ofNullable(metadata).map(NamesJson::toNames));
    }
  }

  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  private record NamesJson(
      @Nullable String podClaimName,
      @Nullable Map<String, String> alternatives,
      @Nullable Set<String> ofSeveralDrivers) {

    static NamesJson of(MetadataNames names) {
      return new NamesJson(names.podClaimName().orElse(null), names.alternatives(), names.ofSeveralDrivers());
    }

    MetadataNames toNames() {
      return new MetadataNames(
          Optional.ofNullable(podClaimName), Objects.requireNonNullElse(alternatives, Map.of()),
          Objects.requireNonNullElse(ofSeveralDrivers, Set.of()));
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record GrantJson(
      List<String> requests,
      String device,
      @Nullable String shareId,
      CardJson card,
      @Nullable ShareJson share,
      @Nullable MigJson mig,
      @Nullable MigJson staticMig,
      @Nullable TimeSlice timeSlice,
      @Nullable BookedJson booked,
      boolean adminAccess,
      @Nullable String instanceUuid) {

    static GrantJson of(Grant grant) {
      return switch (grant.use()) {
        case HookedShare(Share share) -> of(grant, ShareJson.of(share, false, false), null, null);
        case ExclusiveShare(Share share) -> of(grant, ShareJson.of(share, true, false), null, null);
        // a program that does not know the field reads a share with the same memory
        case Mps(Share share) -> of(grant, ShareJson.of(share, false, true), null, null);
        case MigInstance mig -> of(grant, null, MigJson.of(mig), null);
        // a program that does not know the field reads a whole card: it would end what it takes for a MIG instance of its own
        case StaticInstance(MigInstance mig) -> new GrantJson(grant.requests(), grant.device(),
            grant.shareId().orElse(null), CardJson.of(grant.card()), null, null, MigJson.of(mig), null, null, false,
            null);
        // a program that does not know such a share reads the whole instance, of which it gives nobody else anything
        case InstanceShare(MigInstance mig, String uuid, Share share) -> new GrantJson(grant.requests(),
            grant.device(), grant.shareId().orElse(null), CardJson.of(grant.card()),
            ShareJson.of(share, false, false), null, MigJson.of(mig), null, null, false, uuid);
        // a program that does not know the field reads a whole card, of which it gives nobody else anything
        case TimeSlicing(TimeSlice interval) -> of(grant, null, null, interval);
        // a program that does not know the field reads a whole card, of which it gives nobody else anything
        case BookedShare(long memory, long physical, int cores) -> new GrantJson(grant.requests(), grant.device(),
            grant.shareId().orElse(null), CardJson.of(grant.card()), null, null, null,
            null, new BookedJson(memory, physical, cores), false, null);
        case WholeCard _ -> of(grant, null, null, null);
        // a program that does not know it of an instance reads the whole instance, which it does not end either
        case AdminAccess(Optional<MigInstance> mig) -> new GrantJson(grant.requests(), grant.device(),
            grant.shareId().orElse(null), CardJson.of(grant.card()), null, null, mig.map(MigJson::of).orElse(null),
            null, null, true, null);
      };
    }

    private static GrantJson of(
        Grant grant,
        @Nullable ShareJson share,
        @Nullable MigJson mig,
        @Nullable TimeSlice timeSlice) {
      return new GrantJson(grant.requests(), grant.device(), grant.shareId().orElse(null), CardJson.of(grant.card()),
          share, mig, null, timeSlice, null, false, null);
    }

    Grant toGrant() {
      return new Grant(requests, device, Optional.ofNullable(shareId), card.toCard(), use());
    }

    private CardUse use() {
      if (adminAccess) {
        return new AdminAccess(Optional.ofNullable(staticMig).map(MigJson::toMig));
      }
      if (mig != null) {
        return mig.toMig();
      }
      if (staticMig != null && share != null) {
        return new InstanceShare(staticMig.toMig(), Objects.requireNonNull(instanceUuid, "instanceUuid"),
            share.toShare());
      }
      if (staticMig != null) {
        return new StaticInstance(staticMig.toMig());
      }
      if (share != null) {
        return share.toUse();
      }
      if (timeSlice != null) {
        return new TimeSlicing(timeSlice);
      }
      if (booked != null) {
        return new BookedShare(booked.memoryBytes(), booked.physicalBytes(), booked.cores());
      }
      return new WholeCard();
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record CardJson(
      int index,
      int minor,
      String uuid,
      String productName,
      long memoryBytes,
      @Nullable String pciBusId) {

    static CardJson of(CardIdentity card) {
      return new CardJson(
          card.index(), card.minor(), card.uuid(), card.productName(), card.memoryBytes(),
          card.pciBusId().orElse(null));
    }

    CardIdentity toCard() {
      return new CardIdentity(index, minor, uuid, productName, memoryBytes, Optional.ofNullable(pciBusId));
    }
  }

  private record BookedJson(long memoryBytes, long physicalBytes, int cores) {}

  private record MigJson(String profile, int start, int size, long memoryBytes) {
    static MigJson of(MigInstance mig) {
      return new MigJson(mig.profile(), mig.start(), mig.size(), mig.memoryBytes());
    }

    MigInstance toMig() {
      return new MigInstance(profile, start, size, memoryBytes);
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ShareJson(
      long memoryBytes,
      @Nullable Long physicalBytes,
      int cores,
      CoreLimit coreLimit,
      int priority,
      @Nullable Boolean exclusive,
      @Nullable Boolean mps,
      @Nullable String resized,
      @Nullable Long growsTo,
      @Nullable Long lent) {
    static ShareJson of(Share share, boolean exclusive, boolean mps) {
      return new ShareJson(
          share.memoryBytes() - share.lentBytes(), // an older program, which knows no loans, then counts it as it must
          share.physicalBytes() == share.memoryBytes() ? null : share.physicalBytes(),
          share.cores(),
          share.coreLimit(),
          share.priority(),
          exclusive ? true : null,
          mps ? true : null,
          share.resized().map(ShareSize::toString).orElse(null),
          share.growth().map(Growth::mostBytes).orElse(null),
          share.growth().map(Growth::lentBytes).orElse(null));
    }

    Share toShare() {
      return new Share(memoryBytes, physicalBytes == null ? memoryBytes : physicalBytes, cores, coreLimit, priority,
          resized == null ? Optional.empty() : ShareSize.parse(resized),
          growsTo == null ? Optional.empty() : Optional.of(new Growth(growsTo, 0)))
          .lent(lent == null ? 0 : lent);
    }

    CardUse toUse() {
      Share share = toShare();
      if (Boolean.TRUE.equals(mps)) {
        return new Mps(share);
      }
      return Boolean.TRUE.equals(exclusive) ? new ExclusiveShare(share) : new HookedShare(share);
    }
  }
}
