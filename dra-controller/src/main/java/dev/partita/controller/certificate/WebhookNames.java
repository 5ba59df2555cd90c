package dev.partita.controller.certificate;

/**
 * Names the webhook's objects, all after its Service.
 *
 * @param namespace of the Service and of the Secret
 * @param service name of the Service, and of both webhook configurations
 */
public record WebhookNames(String namespace, String service) {
  public WebhookNames {
    if (namespace.isBlank() || service.isBlank()) {
      throw new IllegalArgumentException("a webhook needs a namespace and a name");
    }
  }

  /** The Secret with its certificate. */
  public String secret() {
    return service + "-certificate";
  }

  /** The name under which API servers ask for it. */
  String dnsName() {
    return service + "." + namespace + ".svc";
  }
}
