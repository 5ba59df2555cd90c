package dev.partita.controller.admission;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.DnsName;
import dev.partita.api.Excerpt;
import dev.partita.api.config.FieldError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * Reads and writes AdmissionReviews of admission.k8s.io/v1 as JSON. Anybody in the cluster can send some, so they are
 * bounded in every way.
 */
final class ReviewCodec {
  private static final String API_VERSION = "admission.k8s.io/v1";
  private static final String KIND = "AdmissionReview";

  private static final int MAX_UID = 253;

  // No object of a cluster comes near to these.
  private static final int MAX_DEPTH = 200;
  private static final int MAX_TOKENS = 150_000;

  /** API servers cut off longer ones, and all of them together at 4096. */
  private static final int MAX_WARNING = 256;

  private static final int MAX_WARNINGS = 16;
  private static final int MAX_CAUSES = 100;
  private static final int MAX_CAUSE = 400;
  private static final int UNPROCESSABLE = 422;
  private static final int FORBIDDEN = 403;

  private static final ObjectMapper MAPPER =
      JsonMapper.builder(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(MAX_DEPTH)
                      .maxTokenCount(MAX_TOKENS)
                      .maxDocumentLength(AdmissionServer.MAX_BODY)
                      .build())
              .build())
          .build();

  private ReviewCodec() {}

  /** It is no AdmissionReview of that version with a request; the message is for who sent it. */
  static final class BadReviewException extends Exception {
    private final String why;

    BadReviewException(String why) {
      super(why);
      this.why = why;
    }

    String why() {
      return why;
    }
  }

  static AdmissionRequest decode(byte[] body) throws BadReviewException {
    JsonNode review;
    try {
      review = MAPPER.readTree(body);
    } catch (JsonProcessingException e) {
      throw new BadReviewException(
          "the body is not JSON, or too large a document: " + e.getOriginalMessage().lines().findFirst().orElse(""));
    } catch (IOException e) {
      throw new BadReviewException("the body cannot be read");
    }
    if (!API_VERSION.equals(review.path("apiVersion").asText()) || !KIND.equals(review.path("kind").asText())) {
      throw new BadReviewException("the body must be an " + KIND + " of " + API_VERSION);
    }
    JsonNode request = review.path("request");
    String uid = request.path("uid").asText();
    if (uid.isEmpty() || uid.length() > MAX_UID) {
      throw new BadReviewException("request.uid must be there, and have at most " + MAX_UID + " characters");
    }
    String namespace = request.path("namespace").asText();
    if (!namespace.isEmpty() && !DnsName.isLabel(namespace)) {
      // it becomes part of paths
      throw new BadReviewException("request.namespace must be empty or the name of a namespace");
    }
    return new AdmissionRequest(
        uid,
        request.path("resource").path("group").asText(),
        request.path("resource").path("resource").asText(),
        request.path("operation").asText(),
        namespace,
        request.path("object"),
        request.path("oldObject"));
  }

  static String encode(String uid, Verdict verdict) {
    ObjectNode review = MAPPER.createObjectNode().put("apiVersion", API_VERSION).put("kind", KIND);
    ObjectNode response = review.putObject("response").put("uid", uid);
    switch (verdict) {
      case Verdict.Allowed _ -> response.put("allowed", true);
      case Verdict.Changed(JsonNode patch, List<String> _) ->
          response.put("allowed", true).put("patchType", "JSONPatch").put("patch",
              Base64.getEncoder().encodeToString(text(patch).getBytes(StandardCharsets.UTF_8)));
      case Verdict.Invalid invalid -> {
        ObjectNode status = refusal(response, UNPROCESSABLE, "Invalid", invalid.message());
        ArrayNode causes = status.putObject("details").putArray("causes");
        invalid.errors().stream().limit(MAX_CAUSES).forEach(error -> cause(causes.addObject(), error));
      }
      case Verdict.Forbidden(String why, List<String> _) -> refusal(response, FORBIDDEN, "Forbidden", why);
    }
    if (!verdict.warnings().isEmpty()) {
      ArrayNode warnings = response.putArray("warnings");
      verdict.warnings().stream().limit(MAX_WARNINGS).forEach(warning -> warnings.add(cut(warning, MAX_WARNING)));
    }
    return text(review);
  }

  private static ObjectNode refusal(ObjectNode response, int code, String reason, String message) {
    return response
        .put("allowed", false)
        .putObject("status")
        .put("status", "Failure")
        .put("code", code)
        .put("reason", reason)
        .put("message", message);
  }

  private static void cause(ObjectNode cause, FieldError error) {
    cause.put("reason", "FieldValueInvalid").put("message", cut(error.problem(), MAX_CAUSE)).put("field",
        cut(error.path(), MAX_CAUSE));
  }

  /** The text, or so much of its beginning that it has no more than {@code most} characters. */
  static String cut(String text, int most) {
    return Excerpt.of(text, most - 1);
  }

  private static String text(JsonNode node) {
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of JSON can be written", e);
    }
  }
}
