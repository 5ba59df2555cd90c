package dev.partita.api.quota;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.config.FieldError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuQuotaRulesTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'namespaceSelector': {}, 'limits': [{'guaranteed': {'cards': 4}}]}",
        "{'namespaceSelector': {'matchLabels': {'example.com/team': 'a', 'kubernetes.io/metadata.name': 'x', 'flag': ''}}, 'limits': [{'burst': {'memory': '40Gi'}}]}",
        "{'namespaceSelector': {'matchExpressions': [{'key': 'team', 'operator': 'In', 'values': ['a']}, {'key': 'old', 'operator': 'DoesNotExist'}]}, 'limits': []}",
        "{'limits': [{'name': 'a', 'models': ['h200', 'a100-sxm4-80gb'], 'guaranteed': {'claims': 0}}, {'name': 'b', 'guaranteed': {'cores': 250}}]}",
      })
  void whatIsInOrderIsLeftAlone(String spec) throws JsonProcessingException {
    assertThat(GpuQuotaRules.errors(spec(spec))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "'namespaceSelector': {'matchExpressions': [{'key': 'team', 'operator': 'Is', 'values': ['a']}]} | spec.namespaceSelector.matchExpressions[0].operator: must be one of In, NotIn, Exists, DoesNotExist, not \"Is\"",
        "'namespaceSelector': {'matchExpressions': [{'key': 'team', 'operator': 'In'}]}                  | spec.namespaceSelector.matchExpressions[0].values: must name at least one value for operator In",
        "'namespaceSelector': {'matchExpressions': [{'key': 'team', 'operator': 'Exists', 'values': ['a']}]} | spec.namespaceSelector.matchExpressions[0].values: must be left out for operator Exists",
        "'namespaceSelector': {'matchLabels': {'te am': 'a'}}      | spec.namespaceSelector.matchLabels[te am]: is not a label's name: \"te am\"",
        "'namespaceSelector': {'matchLabels': {'A.b/team': 'a'}}   | spec.namespaceSelector.matchLabels[A.b/team]: is not a label's name: \"A.b/team\"",
        "'namespaceSelector': {'matchLabels': {'team': 'a b'}}     | spec.namespaceSelector.matchLabels[team]: is not a label's value: \"a b\"",
        "'limits': [{}]                                            | spec.limits[0]: limits nothing: name memory, cores, cards or claims in guaranteed or burst",
        "'limits': [{'guaranteed': {'memory': 'a lot'}}]           | spec.limits[0].guaranteed.memory: is not a quantity such as 40Gi: a lot",
        "'limits': [{'burst': {'memory': '-1Gi'}}]                 | spec.limits[0].burst.memory: must not be negative: -1Gi",
        "'limits': [{'guaranteed': {'cards': -1}}]                 | spec.limits[0].guaranteed.cards: must not be negative: -1",
        "'limits': [{'models': ['NVIDIA H200'], 'guaranteed': {'cards': 1}}] | spec.limits[0].models[0]: is not the short name of a model: \"NVIDIA H200\"; did you mean h200?",
        "'limits': [{'models': ['h200', 'h200'], 'guaranteed': {'cards': 1}}] | spec.limits[0].models[1]: is named twice: h200",
        "'limits': [{'guaranteed': {'cards': 1}, 'nodeSelector': {'matchExpressions': [{'key': '', 'operator': 'Exists'}]}}] | spec.limits[0].nodeSelector.matchExpressions[0].key: is not a label's name: \"\"",
        "'limits': [{'name': 'a', 'guaranteed': {'cards': 1}}, {'name': 'a', 'guaranteed': {'cores': 1}}] | spec.limits[1].name: is that of spec.limits[0] already: a",
      })
  void whatIsWrongIsNamedWithItsPath(String fields, String problem) throws JsonProcessingException {
    assertThat(GpuQuotaRules.errors(spec("{" + fields + "}"))).extracting(FieldError::toString)
        .containsExactly(problem);
  }

  @Test
  void allErrorsAreFoundAtOnce() throws JsonProcessingException {
    GpuQuotaSpec spec =
        spec(
            "{'namespaceSelector': {'matchLabels': {'te am': 'a b'}}, 'limits': [{}, {'models': ['H200'], 'guaranteed': {'memory': 'x', 'cards': -1}}]}");
    assertThat(GpuQuotaRules.errors(spec)).hasSize(6);
  }

  @Test
  void aQuotaThatLimitsNobodyOrNothingIsWarnedOf() throws JsonProcessingException {
    assertThat(GpuQuotaRules.warnings(spec("{}"))).extracting(FieldError::path)
        .containsExactly("spec.namespaceSelector", "spec.limits");
    assertThat(GpuQuotaRules.warnings(spec("{'namespaceSelector': {}, 'limits': [{'guaranteed': {'cards': 1}}]}")))
        .isEmpty();
  }

  private static GpuQuotaSpec spec(String json) throws JsonProcessingException {
    return JSON.readValue(json.replace('\'', '"'), GpuQuotaSpec.class);
  }
}
