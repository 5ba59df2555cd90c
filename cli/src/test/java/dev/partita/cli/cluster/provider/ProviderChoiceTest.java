package dev.partita.cli.cluster.provider;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.cluster.provider.ProviderChoice.Chosen;
import dev.partita.cli.cluster.provider.ProviderChoice.Refused;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProviderChoiceTest {
  private static final Map<String, String> WITH_LAB = Map.of("KUBE_LAB", "/opt/lab");
  private static final Map<String, String> WITHOUT_LAB = Map.of("KUBE_LAB", "");

  @Test
  void labComesFirstAndDockerIsNotEvenAsked() {
    assertThat(ProviderChoice.decide(Optional.empty(), WITH_LAB, () -> { throw new AssertionError("asked"); }))
        .isEqualTo(new Chosen(ProviderName.LAB));
  }

  @Test
  void dockerGivesK3sWhereThereIsNoLab() {
    assertThat(ProviderChoice.decide(Optional.empty(), WITHOUT_LAB, () -> true))
        .isEqualTo(new Chosen(ProviderName.K3S));
  }

  @Test
  void nothingToBringUpAClusterWithIsRefusedWithEveryWayOut() {
    assertThat(ProviderChoice.decide(Optional.empty(), Map.of(), () -> false))
        .isInstanceOfSatisfying(
            Refused.class,
            refused -> assertThat(refused.why()).contains("Docker", "KUBE_LAB", "--provider current")
                .doesNotContain("\n"));
  }

  @Test
  void aProviderThatWasAskedForIsNeverSwappedForAnother() {
    assertThat(ProviderChoice.decide(Optional.of(ProviderName.LAB), WITHOUT_LAB, () -> true))
        .isInstanceOfSatisfying(Refused.class, refused -> assertThat(refused.why()).contains("set KUBE_LAB"));
    assertThat(ProviderChoice.decide(Optional.of(ProviderName.K3S), WITH_LAB, () -> false)).isInstanceOf(Refused.class);
    assertThat(ProviderChoice.decide(Optional.of(ProviderName.CURRENT), WITH_LAB, () -> true))
        .isEqualTo(new Chosen(ProviderName.CURRENT));
  }
}
