package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class UsedRightsTest {
  private static final String API = "/apis/resource.k8s.io/v1";
  private static final String POD = "/api/v1/namespaces/a/pods/b";

  @Test
  void aRequestUsesTheRightThatTheApiServerAsksFor() {
    assertThat(rights("GET", "/api/v1/pods")).containsExactly("/pods list");
    assertThat(rights("GET", "/api/v1/pods?limit=9&watch=true")).containsExactly("/pods watch");
    assertThat(rights("GET", "/api/v1/namespaces")).containsExactly("/namespaces list");
    assertThat(rights("GET", "/api/v1/namespaces/a")).containsExactly("/namespaces get");
    assertThat(rights("PATCH", POD + "/status")).containsExactly("/pods/status patch");
    assertThat(rights("POST", POD + "/eviction")).containsExactly("/pods/eviction create");
    assertThat(rights("POST", API + "/resourceslices"))
        .containsExactly("resource.k8s.io/resourceslices create");
    assertThat(rights("DELETE", API + "/resourceslices/a"))
        .containsExactly("resource.k8s.io/resourceslices delete");
    assertThat(rights("GET", "/version")).as("everybody may").isEmpty();
  }

  @Test
  void whoWritesTheStatusOfAClaimBindsItOrSpeaksForADriverOnANode() {
    String status = API + "/namespaces/a/resourceclaims/b/status";
    assertThat(rights("PUT", status))
        .containsExactly(
            "resource.k8s.io/resourceclaims/status update", "resource.k8s.io/resourceclaims/binding update");
    assertThat(UsedRights.of("PATCH", status, UsedRights.Besides.DRIVER_ON_NODE))
        .containsExactly(
            "resource.k8s.io/resourceclaims/status patch",
            "resource.k8s.io/resourceclaims/driver associated-node:patch");
  }

  private static List<String> rights(String method, String target) {
    return UsedRights.of(method, target, UsedRights.Besides.BINDING);
  }
}
