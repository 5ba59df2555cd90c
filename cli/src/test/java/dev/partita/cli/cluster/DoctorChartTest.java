package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.doctor.ChartNames;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DoctorChartTest {
  @Test
  void theDoctorLooksForThePoliciesThatTheChartHas() {
    assertThat(Chart.rendered(Map.of()).filter(ValidatingAdmissionPolicy.class::isInstance)
        .map(policy -> policy.getMetadata().getName()).collect(Collectors.toSet()))
        .isEqualTo(ChartNames.policies());
  }
}
