package dev.partita.plugin.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UsageRegionsTest {
  @TempDir @SuppressWarnings("NullAway.Init") Path folder;

  private final UsageRegions regions = new UsageRegions();

  @AfterEach
  void close() {
    regions.close();
  }

  @Test
  void aRegionThatWasRemovedAndMadeAnewIsTheNewOne() throws IOException {
    Path region = Files.write(folder.resolve("usage"), new byte[]{1});
    assertThat(firstByte(region)).isEqualTo((byte) 1);
    Files.delete(region);
    assertThat(firstByte(region)).as("there is none").isEqualTo((byte) -1);
    Files.write(region, new byte[]{2});
    assertThat(firstByte(region)).isEqualTo((byte) 2);
  }

  @Test
  void aSymbolicLinkAndAFifoAreNoRegions() throws Exception {
    Path target = Files.write(folder.resolve("target"), new byte[]{1});
    assertThat(firstByte(Files.createSymbolicLink(folder.resolve("link"), target))).isEqualTo((byte) -1);
    Path fifo = folder.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    assertThat(firstByte(fifo)).isEqualTo((byte) -1);
  }

  @Test
  void aChangeThatIsHeldUpHoldsUpNeitherReadingNorTheChangeOfAnotherRegion() throws Exception {
    Path held = Files.write(folder.resolve("held"), new byte[]{1});
    Path other = Files.write(folder.resolve("other"), new byte[]{1});
    CountDownLatch end = new CountDownLatch(1);
    Future<?> first =
        regions.change(
            held,
            file -> {
              try {
                end.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              file.write(0, new byte[]{2});
            });
    assertThat(firstByte(held)).isEqualTo((byte) 1);
    assertThatThrownBy(regions.change(held, file -> file.write(0, new byte[]{3}))::get)
        .isInstanceOf(CancellationException.class);
    regions.change(other, file -> file.write(0, new byte[]{4})).get(20, TimeUnit.SECONDS);
    assertThat(firstByte(other)).isEqualTo((byte) 4);
    end.countDown();
    first.get(20, TimeUnit.SECONDS);
    assertThat(firstByte(held)).isEqualTo((byte) 2);
  }

  @Test
  void aRegionThatWasRemovedTakesNoMemoryAnyMore() throws Exception {
    Path region = Files.write(folder.resolve("usage"), new byte[]{1});
    assertThat(firstByte(region)).isEqualTo((byte) 1);
    assertThat(descriptorsOf(region)).isEqualTo(1);
    Files.delete(region);
    regions.forgetBelow(folder);
    assertThat(descriptorsOf(region)).isZero();
  }

  @Test
  void aRegionThatAnotherPluginRemovedIsClosed() throws Exception {
    Path region = Files.write(folder.resolve("usage"), new byte[]{1});
    Path other = Files.write(folder.resolve("other"), new byte[]{1});
    assertThat(firstByte(region)).isEqualTo((byte) 1);
    assertThat(firstByte(other)).isEqualTo((byte) 1);
    Files.delete(region);
    regions.forgetRemoved(Set.of());
    assertThat(descriptorsOf(region)).isZero();
    assertThat(descriptorsOf(other)).as("it is there").isEqualTo(1);
  }

  private byte firstByte(Path region) {
    return regions.read(region, file -> file.read(0, 1)[0], (byte) -1);
  }

  private static long descriptorsOf(Path file) throws IOException {
    try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.filter(descriptor -> pointsTo(descriptor, file)).count();
    }
  }

  private static boolean pointsTo(Path descriptor, Path file) {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith(file.toString());
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }
}
