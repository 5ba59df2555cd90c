package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.plugin.cardreport.YieldRule;
import dev.partita.plugin.usage.UsageWatch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PluginSettingsTest {
  @Test
  void whatIsNotSetHasItsDefault() {
    PluginSettings settings = of();
    assertThat(settings.driverRoot().onHost()).isEqualTo("/");
    assertThat(settings.sysfs()).isEqualTo(Path.of("/sys"));
    assertThat(settings.extraDriverMounts()).isEmpty();
    assertThat(settings.podUid()).isEmpty();
    assertThat(settings.inventoryPeriod()).isEqualTo(Duration.ofSeconds(10));
    assertThat(settings.plausibleOverhead()).isEqualTo(UsageWatch.PLAUSIBLE_OVERHEAD);
    assertThat(settings.yieldRule()).isEqualTo(YieldRule.DEFAULT);
    assertThat(settings.mig()).isFalse();
  }

  @Test
  void theHostSeesTheDriverRootWhereThisProcessDoesUnlessItIsSaid() {
    assertThat(of("--driver-root=/run/driver").driverRoot().onHost()).isEqualTo("/run/driver");
    assertThat(of("--driver-root=/host/driver", "--driver-root-on-host=/run/driver").driverRoot().onHost())
        .isEqualTo("/run/driver");
  }

  @Test
  void sysIsBelowTheDriverRootUnlessItIsSaid() {
    assertThat(of("--driver-root=/run/driver").sysfs()).isEqualTo(Path.of("/run/driver/sys"));
    assertThat(of("--driver-root=/run/driver", "--sysfs=/sys").sysfs()).isEqualTo(Path.of("/sys"));
  }

  @Test
  void foldersAreAbsoluteAndTheLastOfANameCounts() {
    assertThat(of("--state-root=/a/b", "--state-root=/a/../c").stateRoot()).isEqualTo(Path.of("/c"));
  }

  @ParameterizedTest
  @CsvSource({"1,1000", "0.1,100", "2.5,2500", "1e1,10000"})
  void aPeriodIsSecondsAndMayHaveAFraction(String option, long milliseconds) {
    assertThat(of("--usage-period=" + option).usagePeriod()).isEqualTo(Duration.ofMillis(milliseconds));
  }

  @Timeout(10)
  @ParameterizedTest
  @ValueSource(strings = {"-1", "soon", "0.0001", "1e99999999", ""})
  void whatIsNoNumberOfSecondsIsRefusedWithTheOption(String option) {
    assertThatThrownBy(() -> of("--sweep-period=" + option)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--sweep-period").hasMessageContaining("is not a number of seconds");
  }

  @Test
  void aPeriodOfNothingIsRefusedAndAGraceOfNothingIsNot() {
    assertThatThrownBy(() -> of("--usage-period=0")).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("longer than 0 s");
    assertThat(of("--leftover-grace=0").leftoverGrace()).isZero();
  }

  private static PluginSettings of(String... options) {
    return PluginSettings.of(Stream.concat(Stream.of("--node-name=n"), Stream.of(options)).toList());
  }
}
