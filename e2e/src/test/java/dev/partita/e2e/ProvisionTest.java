package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Provision;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProvisionTest {
  @Test
  void labComesFirst() {
    assertThat(Provision.decide(Map.of("KUBE_LAB", "/lab", "KUBECONFIG", "/k", "PARTITA_E2E", "1"), () -> true, true))
        .isEqualTo(new Provision.Lab("/lab"));
  }

  @Test
  void someonesClusterIsTouchedOnlyIfThatWasSaid() {
    assertThat(Provision.decide(Map.of("KUBECONFIG", "/k", "PARTITA_E2E", "1"), () -> false, false))
        .isEqualTo(new Provision.Current("/k"));
    assertThat(Provision.decide(Map.of("KUBECONFIG", "/k"), () -> false, false)).isInstanceOf(Provision.Nothing.class);
  }

  @Test
  void withoutAnythingItSaysWhatToSet() {
    assertThat(Provision.decide(Map.of(), () -> false, true))
        .isInstanceOfSatisfying(Provision.Nothing.class,
            nothing -> assertThat(nothing.why()).contains("KUBE_LAB", "KUBECONFIG", "Docker"));
    assertThat(Provision.decide(Map.of("KUBE_LAB", "/lab"), () -> true, false))
        .isInstanceOfSatisfying(Provision.Nothing.class, nothing -> assertThat(nothing.why()).contains("root"));
  }
}
