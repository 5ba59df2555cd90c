package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.doctor.ChartNames;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DoctorChartTest {
  @Test
  void theDoctorLooksForThePoliciesThatTheChartHas() {
    assertThat(Chart.rendered(Map.of("plugin.mps", true)).filter(ValidatingAdmissionPolicyBinding.class::isInstance)
        .map(binding -> binding.getMetadata().getName()).collect(Collectors.toSet()))
        .as("what is bound whatever the values say").isEqualTo(ChartNames.policies());
  }
}
