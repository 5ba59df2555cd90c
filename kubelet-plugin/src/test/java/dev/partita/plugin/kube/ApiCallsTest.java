package dev.partita.plugin.kube;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;

class ApiCallsTest {
  @Test
  void aRefusalInANamespaceThatIsBeingDeletedIsNoLackOfRights() {
    KubernetesClientException ending = refusal("NamespaceTerminating");
    assertThat(ApiCalls.isForbidden(ending)).isTrue();
    assertThat(ApiCalls.isNamespaceEnding(ending)).isTrue();
    assertThat(ApiCalls.isNamespaceEnding(refusal("Other"))).isFalse();
    assertThat(ApiCalls.isNamespaceEnding(new KubernetesClientException("no answer"))).isFalse();
  }

  @Test
  void anAnswerThatIsNotUnderstoodIsNotAskedForAgainAndOneThatBrokeOffIs() {
    ObjectMapper json = new ObjectMapper();
    assertThat(ApiCalls.mayPass(failure(json, "{\"code\": {}}"))).isFalse();
    assertThat(ApiCalls.mayPass(failure(json, "{\"code\": 4"))).isTrue();
    assertThat(ApiCalls.mayPass(new KubernetesClientException("no answer"))).isTrue();
  }

  private static KubernetesClientException failure(ObjectMapper json, String answer) {
    try {
      json.readValue(answer, Status.class);
      throw new AssertionError("it was understood");
    } catch (JsonProcessingException e) {
      return new KubernetesClientException("An error has occurred.", e);
    }
  }

  private static KubernetesClientException refusal(String cause) {
    Status status =
        new StatusBuilder().withCode(403).withNewDetails().addNewCause().withReason(cause).endCause().endDetails()
            .build();
    return new KubernetesClientException("events is forbidden", 403, status);
  }
}
