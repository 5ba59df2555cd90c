package dev.partita.controller.admission;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.DnsName;
import dev.partita.api.Excerpt;
import dev.partita.api.config.FieldError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * Reads and writes AdmissionReviews of admission.k8s.io/v1 as JSON. Anybody in the cluster can send some, so they are
 * bounded in every way.
 */
final class ReviewCodec {
  private static final String API_VERSION = "admission.k8s.io/v1";
  private static final String KIND = "AdmissionReview";

  private static final int MAX_UID = 253;

  /** API servers cut off longer ones, and all of them together at 4096. */
  private static final int MAX_WARNING = 256;

  private static final int MAX_WARNINGS = 16;
  private static final int MAX_CAUSES = 100;
  private static final int MAX_CAUSE = 400;
  private static final int UNPROCESSABLE = 422;
  private static final int FORBIDDEN = 403;

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private ReviewCodec() {}

  /** It is no AdmissionReview of that version with a request, or cannot be read; the message is for who sent it. */
  static final class BadReviewException extends Exception {
    private final String why;
    private final Optional<String> uid;

    BadReviewException(String why, Optional<String> uid) {
      super(why);
      this.why = why;
      this.uid = uid;
    }

    BadReviewException(String why) {
      this(why, Optional.empty());
    }

    String why() {
      return why;
    }

    /** Of the request, if it is one that cannot be read to its end. */
    Optional<String> uid() {
      return uid;
    }
  }

  static AdmissionRequest decode(byte[] body) throws BadReviewException {
    ReviewTree tree = new ReviewTree();
    try {
      tree.read(body);
    } catch (JsonProcessingException e) {
      throw new BadReviewException(
          "the review cannot be read: " + e.getOriginalMessage().lines().findFirst().orElse(""), uid(tree));
    } catch (IOException e) {
      throw new BadReviewException("the review cannot be read: " + e.getMessage(), uid(tree));
    }
    JsonNode review = tree.root();
    if (!API_VERSION.equals(review.path("apiVersion").asText()) || !KIND.equals(review.path("kind").asText())) {
      throw new BadReviewException("the body must be an " + KIND + " of " + API_VERSION);
    }
    JsonNode request = review.path("request");
    String uid = uid(tree).orElseThrow(
        () -> new BadReviewException("request.uid must be there, and have at most " + MAX_UID + " characters"));
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

  /** The UID of a review of which no more than the beginning is there: API servers write it before the object. */
  static Optional<String> uid(byte[] beginning) {
    ReviewTree tree = new ReviewTree();
    try {
      tree.read(beginning);
    } catch (IOException e) {
      // it ends in the midst of something
    }
    return uid(tree);
  }

  private static Optional<String> uid(ReviewTree tree) {
    return Optional.of(tree.root().path("request").path("uid").asText())
        .filter(uid -> !uid.isEmpty() && uid.length() <= MAX_UID);
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
