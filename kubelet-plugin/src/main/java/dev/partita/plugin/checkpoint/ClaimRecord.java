package dev.partita.plugin.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.claim.CardIdentity;
import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.claim.Grant;
import dev.partita.plugin.claim.PreparedClaim;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A record's bytes: one line {@code partita-checkpoint <version> sha256:<of the rest>}, then JSON. The checksum is over the
 * bytes as they are, so that a newer program can read what an older one wrote; unknown fields are skipped.
 */
final class ClaimRecord {
  private static final String MAGIC = "partita-checkpoint";
  private static final String VERSION = "1";
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

  /** Reads a record; an IOException says what is wrong with it. */
  static PreparedClaim read(byte[] record) throws IOException {
    int newline = 0;
    while (newline < record.length && record[newline] != '\n') {
      newline++;
    }
    String[] head = new String(record, 0, newline, StandardCharsets.US_ASCII).split(" ", -1);
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
      boolean mixed) {

    static ClaimJson of(PreparedClaim claim) {
      return new ClaimJson(
          claim.claim().namespace(),
          claim.claim().name(),
          claim.claim().uid(),
          claim.phase(),
          claim.bootId(),
          claim.grants().stream().map(GrantJson::of).toList(),
          claim.env(),
          claim.mixed());
    }

    PreparedClaim toClaim() {
      return new PreparedClaim(
          new ClaimRef(namespace, name, uid), phase, bootId, grants.stream().map(GrantJson::toGrant).toList(), env, mixed);
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record GrantJson(
      List<String> requests, String device, @Nullable String shareId, CardJson card, @Nullable ShareJson share, @Nullable MigJson mig, boolean adminAccess) {

    static GrantJson of(Grant grant) {
      return new GrantJson(
          grant.requests(),
          grant.device(),
          grant.shareId().orElse(null),
          CardJson.of(grant.card()),
          grant.share().map(ShareJson::of).orElse(null),
          grant.mig().map(MigJson::of).orElse(null),
          grant.use() instanceof Grant.Whole whole && whole.adminAccess());
    }

    Grant toGrant() {
      Grant.Use use = mig != null ? mig.toMig() : share != null ? share.toShare() : new Grant.Whole(adminAccess);
      return new Grant(requests, device, Optional.ofNullable(shareId), card.toCard(), use);
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record CardJson(
      int index, int minor, String uuid, String productName, long memoryBytes, @Nullable String pciBusId) {

    static CardJson of(CardIdentity card) {
      return new CardJson(
          card.index(), card.minor(), card.uuid(), card.productName(), card.memoryBytes(), card.pciBusId().orElse(null));
    }

    CardIdentity toCard() {
      return new CardIdentity(index, minor, uuid, productName, memoryBytes, Optional.ofNullable(pciBusId));
    }
  }

  private record MigJson(String profile, int start, int size, long memoryBytes) {
    static MigJson of(Grant.Mig mig) {
      return new MigJson(mig.profile(), mig.start(), mig.size(), mig.memoryBytes());
    }

    Grant.Mig toMig() {
      return new Grant.Mig(profile, start, size, memoryBytes);
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ShareJson(long memoryBytes, @Nullable Long physicalBytes, int cores, CoreLimit coreLimit, int priority, @Nullable Boolean exclusive) {
    static ShareJson of(Grant.Share share) {
      return new ShareJson(
          share.memoryBytes(),
          share.physicalBytes() == share.memoryBytes() ? null : share.physicalBytes(),
          share.cores(),
          share.coreLimit(),
          share.priority(),
          share.exclusive() ? true : null);
    }

    Grant.Share toShare() {
      return new Grant.Share(memoryBytes, physicalBytes == null ? memoryBytes : physicalBytes, cores, coreLimit, priority, Boolean.TRUE.equals(exclusive));
    }
  }
}
