package dev.partita.plugin.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.partita.plugin.claim.PreparedClaim;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A damaged disk, or a program of another version, can leave any bytes as a record: they are a record, or an error says
 * why not.
 */
class ClaimRecordFuzzTest {
  @FuzzTest(maxDuration = "10s")
  void anyBytesAreARecordOrAnErrorSaysWhyNot(byte[] body) throws IOException, NoSuchAlgorithmException {
    read(body);
    String sum = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
    byte[] head = ("partita-checkpoint 1 sha256:" + sum + "\n").getBytes(StandardCharsets.US_ASCII);
    byte[] record = java.util.Arrays.copyOf(head, head.length + body.length);
    System.arraycopy(body, 0, record, head.length, body.length);
    read(record);
  }

  private static void read(byte[] record) throws IOException {
    PreparedClaim claim;
    try {
      claim = ClaimRecord.read(record);
    } catch (IOException notARecord) {
      assertThat(notARecord.getMessage()).isNotBlank();
      return;
    }
    assertThat(ClaimRecord.read(ClaimRecord.write(claim))).isEqualTo(claim);
  }
}
