package dev.partita.cli.doctor;

/**
 * What one check found.
 *
 * @param verdict whether it is as it should be
 * @param check which one
 * @param subject of which node or object; empty where there is one only
 * @param message what was seen
 * @param mend what to do, in one line; empty if nothing
 */
record Finding(Verdict verdict, String check, String subject, String message, String mend) {
  /** All is well. */
  static Finding ok(String check, String subject, String message) {
    return new Finding(Verdict.OK, check, subject, message, "");
  }

  /** Somebody should look. */
  static Finding warn(String check, String subject, String message, String mend) {
    return new Finding(Verdict.WARN, check, subject, message, mend);
  }

  /** It does not work. */
  static Finding fail(String check, String subject, String message, String mend) {
    return new Finding(Verdict.FAIL, check, subject, message, mend);
  }
}
