package dev.partita.controller.admission;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What an API server asks ({@code AdmissionReview.request}, admission.k8s.io/v1).
 *
 * @param uid to be given back
 * @param group API group of the resource in the version that the webhook asked for; empty for the core group
 * @param resource plural of the resource
 * @param operation CREATE, UPDATE, DELETE or CONNECT
 * @param namespace a DNS label; empty for a cluster-scoped object
 * @param object as it would be; a missing node where there is none
 * @param oldObject as it is; a missing node where there is none
 */
public record AdmissionRequest(
    String uid,
    String group,
    String resource,
    String operation,
    String namespace,
    JsonNode object,
    JsonNode oldObject) {}
