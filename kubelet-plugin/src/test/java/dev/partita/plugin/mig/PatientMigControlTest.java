package dev.partita.plugin.mig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PatientMigControlTest {
  private final Driver driver = new Driver();
  private final PatientMigControl patient = new PatientMigControl(driver, Duration.ofMillis(200));

  @AfterEach
  void letGo() {
    driver.comesBack.countDown();
    patient.close();
  }

  @Test
  void whatTheDriverSaysAndRefusesIsPassedOn() throws NvmlException {
    assertThat(patient.mig("GPU-0")).isEqualTo(new MigControl.MigState(true, List.of()));
    assertThatThrownBy(() -> patient.endInstance("GPU-0", 5)).isInstanceOfSatisfying(NvmlException.class,
        e -> assertThat(e.code()).isEqualTo(19));
    patient.makeInstance("GPU-0", "1g.18gb", 3);
    assertThat(driver.made).isEqualTo("1g.18gb at 3");
  }

  @Test
  void aCallThatDoesNotComeBackIsGivenUpAndNoOtherIsMadeUntilItDoes() throws Exception {
    assertThatThrownBy(() -> patient.switchMig("GPU-0", true)).isInstanceOfSatisfying(NvmlException.class,
        e -> assertThat(e.code()).isEqualTo(NvmlException.TIMEOUT));
    assertThatThrownBy(() -> patient.mig("GPU-0")).hasMessageContaining("an earlier call")
        .hasMessageContaining("see dmesg");
    driver.comesBack.countDown();
    await().ignoreExceptionsInstanceOf(NvmlException.class).until(() -> patient.mig("GPU-0").on());
  }

  /** One that does not come back from a change of the mode until it is let go. */
  private static final class Driver implements MigControl {
    final CountDownLatch comesBack = new CountDownLatch(1);
    volatile String made = "";

    @Override
    public MigState mig(String card) {
      return new MigState(true, List.of());
    }

    @Override
    public List<CardUser> users(String card) {
      throw new AssertionError("nobody asked for that");
    }

    @Override
    public void switchMig(String card, boolean on) {
      try {
        comesBack.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void makeInstance(String card, String profile, int start) {
      made = profile + " at " + start;
    }

    @Override
    public void endInstance(String card, int gpuInstance) throws NvmlException {
      throw new NvmlException("nvmlGpuInstanceDestroy", 19, "in use");
    }
  }
}
