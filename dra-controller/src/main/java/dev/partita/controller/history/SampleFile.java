package dev.partita.controller.history;

import dev.partita.controller.fleet.Totals;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Samples as they are stored: lines of text, by gzip. The first is {@code partita-history 1}; each other one is a
 * sample, in decimals:
 * {@code at nodes nodesReady cards cardsAvailable memory memoryAllocated memoryUsed cores coresAllocated
 * coresUsed waiting}. A day takes some 30 KiB.
 */
final class SampleFile {
  /** More than gzip makes of a day of any figures. */
  static final int MOST_BYTES = 256 << 10;

  /** More than {@link History#MOST} lines of the largest figures. */
  private static final int MOST_TEXT = 512 << 10;

  private static final String HEAD = "partita-history 1";
  private static final int FIELDS = 12;

  private SampleFile() {}

  /** What was read. */
  sealed interface Reading {
    /** The oldest first; each is later than the one before. */
    record Of(List<Sample> samples) implements Reading {
      public Of {
        samples = List.copyOf(samples);
      }
    }

    /** Nothing of it can be used, and why, for people. */
    record Unusable(String why) implements Reading {}
  }

  static byte[] write(List<Sample> samples) {
    String text = samples.stream().map(sample -> line(sample) + "\n").collect(Collectors.joining("", HEAD + "\n", ""));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(text.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static String line(Sample sample) {
    Totals totals = sample.totals();
    return LongStream
        .of(sample.at(), totals.nodes(), totals.nodesReady(), totals.cards(), totals.cardsAvailable(), totals.memory(),
            totals.memoryAllocated(), totals.memoryUsed(), totals.cores(), totals.coresAllocated(), totals.coresUsed(),
            sample.waiting())
        .mapToObj(Long::toString).collect(Collectors.joining(" "));
  }

  /** Whoever may write the object may have written anything: it takes bounded memory and time. */
  static Reading read(byte[] bytes) {
    if (bytes.length > MOST_BYTES) {
      return new Reading.Unusable("has " + bytes.length + " bytes, more than " + MOST_BYTES);
    }
    String text;
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
      byte[] read = in.readNBytes(MOST_TEXT + 1);
      if (read.length > MOST_TEXT) {
        return new Reading.Unusable("unpacks to more than " + MOST_TEXT + " bytes");
      }
      text = new String(read, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      return new Reading.Unusable("cannot be unpacked by gzip: " + e.getMessage());
    }
    List<String> lines = text.lines().toList();
    if (lines.isEmpty() || !lines.getFirst().equals(HEAD)) {
      return new Reading.Unusable("does not begin with " + HEAD);
    }
    return lines.size() - 1 > History.MOST
        ? new Reading.Unusable("has " + (lines.size() - 1) + " samples, more than " + History.MOST)
        : samples(lines);
  }

  private static Reading samples(List<String> lines) {
    List<Sample> samples = new ArrayList<>();
    for (int i = 1; i < lines.size(); i++) {
      try {
        Sample sample = sample(lines.get(i));
        if (!samples.isEmpty() && sample.at() <= samples.getLast().at()) {
          return new Reading.Unusable("line " + (i + 1) + " is not later than the one before");
        }
        samples.add(sample);
      } catch (IllegalArgumentException | ArithmeticException e) {
        return new Reading.Unusable("line " + (i + 1) + " is not " + FIELDS + " amounts");
      }
    }
    return new Reading.Of(samples);
  }

  /**
   * @throws IllegalArgumentException if it is none
   * @throws ArithmeticException likewise
   */
  private static Sample sample(String line) {
    String[] words = line.split(" ", -1);
    long[] fields = new long[FIELDS];
    if (words.length != FIELDS) {
      throw new IllegalArgumentException();
    }
    for (int i = 0; i < FIELDS; i++) {
      fields[i] = Long.parseUnsignedLong(words[i]);
      if (fields[i] < 0) {
        throw new IllegalArgumentException();
      }
    }
    return new Sample(fields[0],
        new Totals(Math.toIntExact(fields[1]), Math.toIntExact(fields[2]), Math.toIntExact(fields[3]),
            Math.toIntExact(fields[4]), fields[5], fields[6], fields[7], fields[8], fields[9], fields[10]),
        Math.toIntExact(fields[11]));
  }
}
