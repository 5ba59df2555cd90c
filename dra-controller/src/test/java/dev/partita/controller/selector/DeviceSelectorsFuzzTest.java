package dev.partita.controller.selector;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Set;

/**
 * A tenant writes the CEL selectors of a claim: whatever they are, they give a verdict or the reason why there is none.
 */
class DeviceSelectorsFuzzTest {
  private final DeviceSelectors selectors = new DeviceSelectors();

  @FuzzTest(maxDuration = "10s")
  void anyExpressionGivesTheSameVerdictTwice(FuzzedDataProvider data) {
    String expression = data.consumeRemainingAsString();
    Verdict verdict = selectors.evaluate(expression, Devices.SHARED);
    assertThat(new DeviceSelectors().evaluate(expression, Devices.SHARED)).isEqualTo(verdict);
    selectors.compileError(expression)
        .ifPresent(error -> assertThat(error).hasSizeLessThanOrEqualTo(201).doesNotContain("\n"));
    selectors.onlyUuids(expression);
    selectors.mayRead(expression, Set.of("uuid"));
  }
}
