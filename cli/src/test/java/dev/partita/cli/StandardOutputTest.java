package dev.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class StandardOutputTest {
  private static StandardOutput writtenTo(String failure) {
    StandardOutput out = new StandardOutput(new OutputStream() {
      @Override
      public void write(int octet) throws IOException {
        throw new IOException(failure);
      }
    });
    try (PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8)) {
      print.println("lost");
    }
    return out;
  }

  @Test
  void whatAFullDiskDoesNotTakeIsKnown() {
    assertThat(writtenTo("No space left on device").problem()).contains("No space left on device");
  }

  @Test
  void aCommandWhoseOutputIsCutOffSaysNothingElseByItsStatus() {
    assertThat(Partita.withoutOutput(0)).isEqualTo(1);
    assertThat(Partita.withoutOutput(3)).as("of convert: all is written, but some stayed as it was").isEqualTo(1);
    assertThat(Partita.withoutOutput(2)).as("usage").isEqualTo(2);
  }

  @Test
  void aReaderThatWantsNoMoreIsNoProblem() {
    assertThat(writtenTo("Broken pipe").problem()).isEmpty();
  }

  @Test
  void whatIsWrittenArrives() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    StandardOutput out = new StandardOutput(bytes);
    try (PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8)) {
      print.print("ä");
      print.write('b');
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo("äb");
    assertThat(out.problem()).isEmpty();
  }
}
