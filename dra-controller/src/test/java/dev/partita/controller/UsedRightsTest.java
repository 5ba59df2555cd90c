package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UsedRightsTest {
  private static final String API = "/apis/resource.k8s.io/v1";
  private static final String POD = "/api/v1/namespaces/a/pods/b";

  @Test
  void aRequestUsesTheRightThatTheApiServerAsksFor() {
    assertThat(UsedRights.rights("GET", "/api/v1/pods")).containsExactly("/pods list");
    assertThat(UsedRights.rights("GET", "/api/v1/pods?limit=9&watch=true")).containsExactly("/pods watch");
    assertThat(UsedRights.rights("GET", "/api/v1/namespaces")).containsExactly("/namespaces list");
    assertThat(UsedRights.rights("GET", "/api/v1/namespaces/a")).containsExactly("/namespaces get");
    assertThat(UsedRights.rights("PATCH", POD + "/status")).containsExactly("/pods/status patch");
    assertThat(UsedRights.rights("POST", POD + "/eviction")).containsExactly("/pods/eviction create");
    assertThat(UsedRights.rights("POST", API + "/resourceslices"))
        .containsExactly("resource.k8s.io/resourceslices create");
    assertThat(UsedRights.rights("DELETE", API + "/resourceslices/a"))
        .containsExactly("resource.k8s.io/resourceslices delete");
    assertThat(UsedRights.rights("GET", "/version")).as("everybody may").isEmpty();
  }

  @Test
  void whoWritesTheStatusOfAClaimBindsIt() {
    assertThat(UsedRights.rights("PUT", API + "/namespaces/a/resourceclaims/b/status"))
        .containsExactly(
            "resource.k8s.io/resourceclaims/status update", "resource.k8s.io/resourceclaims/binding update");
  }
}
