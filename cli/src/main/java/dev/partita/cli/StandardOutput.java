package dev.partita.cli;

import dev.partita.cli.command.FileProblem;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Standard output that knows why it could not be written. {@link System#out} says nothing of it: a file on a disk that
 * is full would be cut off, and the exit status 0.
 */
final class StandardOutput extends FilterOutputStream {
  private @Nullable IOException failure;

  StandardOutput(OutputStream out) {
    super(out);
  }

  /** Has all that is printed from now on go through it. */
  static StandardOutput install() {
    StandardOutput out = new StandardOutput(new FileOutputStream(FileDescriptor.out));
    Charset charset = System.out.charset();
    System.setOut(new PrintStream(out, false, charset));
    return out;
  }

  @Override
  public void write(int octet) throws IOException {
    write(new byte[]{(byte) octet}, 0, 1);
  }

  @Override
  public void write(byte[] octets, int offset, int length) throws IOException {
    try {
      out.write(octets, offset, length);
    } catch (IOException e) {
      failure = Objects.requireNonNullElse(failure, e);
      throw e;
    }
  }

  /** Why something is missing; empty also where a reader wanted no more, such as head(1). */
  Optional<String> problem() {
    return Optional.ofNullable(failure).map(FileProblem::why).filter(why -> !why.equals("Broken pipe"));
  }
}
