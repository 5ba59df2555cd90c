package dev.partita.controller.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.fleet.Totals;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SampleFileTest {
  private static final String HEAD = "partita-history 1\n";

  private static byte[] zipped(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
      zip.write(bytes);
    }
    return out.toByteArray();
  }

  private static SampleFile.Reading reading(String text) throws IOException {
    return SampleFile.read(zipped(text.getBytes(StandardCharsets.US_ASCII)));
  }

  @Test
  void whatIsWrittenIsRead() {
    List<Sample> samples = List.of(new Sample(60, new Totals(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 11),
        new Sample(120, new Totals(0, 0, 0, 0, Long.MAX_VALUE, 0, 0, 0, 0, 0), Integer.MAX_VALUE));
    assertThat(SampleFile.read(SampleFile.write(samples))).isEqualTo(new SampleFile.Reading.Of(samples));
    assertThat(SampleFile.read(SampleFile.write(List.of()))).isEqualTo(new SampleFile.Reading.Of(List.of()));
  }

  @Test
  void theFormIsTheOneThatIsDocumented() throws IOException {
    Sample sample = new Sample(60, new Totals(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 11);
    assertThat(reading(HEAD + "60 1 2 3 4 5 6 7 8 9 10 11\n"))
        .isEqualTo(new SampleFile.Reading.Of(List.of(sample)));
  }

  /** An object may have 1 MiB. */
  @Test
  void aDayOfAnyFiguresIsSmallEnoughToBeReadAgain() {
    Random random = new Random(1);
    List<Sample> day = LongStream.range(0, History.MOST)
        .mapToObj(i -> new Sample(Long.MAX_VALUE - History.MOST + i,
            new Totals(large(random), large(random), large(random), large(random), huge(random), huge(random),
                huge(random), huge(random), huge(random), huge(random)),
            large(random)))
        .toList();
    byte[] written = SampleFile.write(day);
    assertThat(written.length).isLessThan(SampleFile.MOST_BYTES);
    assertThat(SampleFile.read(written)).isEqualTo(new SampleFile.Reading.Of(day));
  }

  private static int large(Random random) {
    return random.nextInt(1_000_000_000, Integer.MAX_VALUE);
  }

  private static long huge(Random random) {
    return random.nextLong(1_000_000_000_000_000_000L, Long.MAX_VALUE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                                                         | does not begin with partita-history 1",
        "partita-history 2                                          | does not begin with partita-history 1",
        "partita-history 1;60 1 1 1 1 1 1 1 1 1 1                   | line 2 is not 12 amounts",
        "partita-history 1;60 1 1 1 1 1 1 1 1 1 1 1 1               | line 2 is not 12 amounts",
        "partita-history 1;60 1 1 1 1 1 1 1 1 1 1 -1                | line 2 is not 12 amounts",
        "partita-history 1;60 1 1 1 1 1 1 1 1 1 1 2147483648        | line 2 is not 12 amounts",
        "partita-history 1;60 1 1 1 1 9223372036854775808 1 1 1 1 1 1 | line 2 is not 12 amounts",
        "partita-history 1;60 1 1 1 1 1 1 1 1 1 1 1;61 x 1 1 1 1 1 1 1 1 1 1 | line 3 is not 12 amounts",
        "partita-history 1;60 1 1 1 1 1 1 1 1 1 1 1;60 1 1 1 1 1 1 1 1 1 1 1 | line 3 is not later than the one before"
      })
  void whatIsNotOfThatFormIsRefusedWithTheReason(String lines, String why) throws IOException {
    assertThat(reading(lines.replace(';', '\n'))).isEqualTo(new SampleFile.Reading.Unusable(why));
  }

  @Test
  void whatIsTooLargeIsRefusedHoweverSmallItIsPacked() throws IOException {
    assertThat(SampleFile.read(new byte[SampleFile.MOST_BYTES + 1]))
        .isEqualTo(new SampleFile.Reading.Unusable("has 262145 bytes, more than 262144"));
    assertThat(SampleFile.read(zipped(new byte[64 << 20])))
        .isEqualTo(new SampleFile.Reading.Unusable("unpacks to more than 524288 bytes"));
    assertThat(reading(HEAD + "\n".repeat(1_441)))
        .isEqualTo(new SampleFile.Reading.Unusable("has 1441 samples, more than 1440"));
  }

  @Test
  void whatIsNoGzipOrHalfOfOneIsRefused() {
    assertThat(SampleFile.read("no gzip".getBytes(StandardCharsets.US_ASCII)))
        .isInstanceOf(SampleFile.Reading.Unusable.class);
    byte[] whole = SampleFile.write(List.of());
    assertThat(SampleFile.read(Arrays.copyOf(whole, whole.length / 2)))
        .isInstanceOf(SampleFile.Reading.Unusable.class);
  }
}
