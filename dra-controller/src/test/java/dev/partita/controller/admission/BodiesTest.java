package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BodiesTest {
  private static final int MOST = 800_000;

  private final Bodies bodies = new Bodies(MOST, 3 * MOST + Bodies.SMALL);

  @Test
  void aBodyIsReadToItsEnd() throws IOException {
    for (int length : new int[]{0, 1, 8192, 8193, Bodies.SMALL + 1, MOST}) {
      try (Bodies.Body body = bodies.begin()) {
        assertThat(body.read(sent(length))).isTrue();
        assertThat(body.taken()).hasValueSatisfying(all -> assertThat(all).isEqualTo(bytes(length)));
      }
    }
  }

  @Test
  void ofABodyThatIsTooLongTheBeginningIsLeft() throws IOException {
    Bodies.Body body = bodies.begin();
    assertThat(body.read(sent(MOST + 1))).isFalse();
    assertThat(body.isTooLong()).isTrue();
    assertThat(body.beginning()).isEqualTo(bytes(Bodies.BEGINNING));
  }

  @Test
  void whereOneMoreDoesNotFitTheOneOfEqualOnesThatBeganFirstIsGivenUp() throws IOException {
    Bodies.Body first = bodies.begin();
    Bodies.Body second = bodies.begin();
    Bodies.Body third = bodies.begin();
    Bodies.Body fourth = bodies.begin();
    for (Bodies.Body body : new Bodies.Body[]{second, first, fourth}) {
      assertThat(body.read(sent(MOST))).isTrue();
    }
    assertThat(third.read(sent(MOST))).isTrue();
    assertThat(first.taken()).isEmpty();
    assertThat(first.isTooLong()).isFalse();
    assertThat(first.beginning()).as("for an answer").isEqualTo(bytes(Bodies.BEGINNING));
    assertThat(second.taken()).isPresent();
    assertThat(third.taken()).isPresent();
    assertThat(fourth.taken()).isPresent();
  }

  @Test
  void whereOneMoreDoesNotFitTheLargestIsGivenUp() throws IOException {
    Bodies.Body small = bodies.begin();
    Bodies.Body large = bodies.begin();
    assertThat(small.read(sent(Bodies.SMALL))).isTrue();
    assertThat(large.read(sent(MOST / 2))).isTrue();
    for (int i = 0; i < 20; i++) {
      bodies.begin().read(sent(MOST));
    }
    assertThat(small.taken()).isPresent();
    assertThat(large.taken()).isPresent();
  }

  /** Such as while a flood of them waits to be worked on. */
  @Test
  void smallOnesAreHeldBesideLargeOnesThatFillIt() throws IOException {
    for (int i = 0; i < 3; i++) {
      assertThat(bodies.begin().read(sent(MOST))).isTrue();
    }
    List<Bodies.Body> small = new ArrayList<>();
    for (int i = 0; i < 3 * MOST / Bodies.SMALL; i++) {
      small.add(bodies.begin());
      assertThat(small.getLast().read(sent(Bodies.SMALL))).isTrue();
      assertThat(small.getLast().isLarge()).isFalse();
    }
    assertThat(small).allSatisfy(body -> assertThat(body.taken()).isPresent());
  }

  @Test
  void whatIsGivenUpIsNotReadOn() throws IOException {
    Bodies.Body slow = bodies.begin();
    assertThat(slow.read(new InputStream() {
      private int chunks;

      @Override
      public int read() {
        throw new UnsupportedOperationException();
      }

      @Override
      public int read(byte[] into, int offset, int most) throws IOException {
        chunks++;
        if (chunks == MOST / most) {
          for (int i = 0; i < 3; i++) {
            bodies.begin().read(sent(MOST * 9 / 10));
          }
        }
        assertThat(chunks).isLessThanOrEqualTo(MOST / most);
        return most;
      }
    })).isFalse();
    assertThat(slow.isTooLong()).isFalse();
    assertThat(slow.taken()).isEmpty();
  }

  @Test
  void whatIsTakenOrClosedLeavesRoom() throws IOException {
    Bodies.Body first = bodies.begin();
    assertThat(first.read(sent(MOST))).isTrue();
    for (int i = 0; i < 10; i++) {
      try (Bodies.Body taken = bodies.begin(); Bodies.Body closed = bodies.begin()) {
        assertThat(taken.read(sent(MOST))).isTrue();
        assertThat(taken.taken()).isPresent();
        assertThat(closed.read(sent(MOST))).isTrue();
      }
      assertThat(bodies.begin().read(sent(0))).isTrue();
    }
    assertThat(first.taken()).isPresent();
  }

  private static InputStream sent(int length) {
    return new ByteArrayInputStream(bytes(length));
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    IntStream.range(0, length).forEach(i -> bytes[i] = (byte) i);
    return bytes;
  }
}
