package dev.partita.controller.certificate;

import java.time.Instant;

/** What is to be done about the webhook's certificates. */
sealed interface CertificateStep {
  /** Nothing, before that time or a change of the Secret or the webhook configurations. */
  record Wait(Instant until) implements CertificateStep {}

  /**
   * Another authority is due, to be trusted beside the present one.
   *
   * @param why for people
   */
  record NewAuthority(String why) implements CertificateStep {}

  /**
   * Another serving certificate is due.
   *
   * @param why for people
   */
  record NewServing(String why) implements CertificateStep {}

  /** Authorities that are over need not be trusted any longer. */
  record ForgetOver() implements CertificateStep {}
}
