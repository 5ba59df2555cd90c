package dev.partita.cli.images;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 sums, in hexadecimal. */
public final class Sha256 {
  private Sha256() {}

  /** Of a file. */
  public static String of(Path file) throws IOException {
    MessageDigest digest = digest();
    try (InputStream in = Files.newInputStream(file);
        OutputStream into = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
      in.transferTo(into);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Of bytes. */
  public static String of(byte[] content) {
    return HexFormat.of().formatHex(digest().digest(content));
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java has SHA-256", missing);
    }
  }
}
