package dev.partita.controller.admission;

import java.util.function.Function;

/** Looks on at what API servers ask, such as to count it. For any thread. */
public interface ReviewWatch {
  /**
   * What is asked in the place of a review.
   *
   * @param name of the review, such as {@code validate}
   */
  Function<AdmissionRequest, Verdict> watched(String name, Function<AdmissionRequest, Verdict> review);

  /**
   * A request could not be reviewed: it is malformed or too large, the review failed, or too much is asked at once.
   *
   * @param status of HTTP that says why, also where the object was refused instead
   */
  void unreviewed(int status);
}
