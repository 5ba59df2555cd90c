package dev.partita.cli.doctor;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;

/**
 * A right by Kubernetes' RBAC, which a user or a ServiceAccount may have, such as to list pods.
 *
 * @param verb such as list
 * @param group API group; empty for the core one
 * @param resource with its subresource, such as pods/log
 * @param name of the only object that it is for; empty for all
 * @param inPartita whether it is for Partita's namespace only
 */
record Right(String verb, String group, String resource, String name, boolean inPartita) {
  /** One for all objects of all namespaces. */
  static Right of(String verb, String group, String resource) {
    return new Right(verb, group, resource, "", false);
  }

  /** One for all objects in Partita's namespace. */
  static Right inPartita(String verb, String group, String resource) {
    return new Right(verb, group, resource, "", true);
  }

  /** As an access review asks for it. */
  ResourceAttributes attributes(String namespaceOfPartita) {
    String[] parts = resource.split("/", 2);
    return new ResourceAttributesBuilder()
        .withVerb(verb).withGroup(group).withResource(parts[0])
        .withSubresource(parts.length > 1 ? parts[1] : null)
        .withName(name.isEmpty() ? null : name)
        .withNamespace(inPartita ? namespaceOfPartita : null)
        .build();
  }

  @Override
  public String toString() {
    return verb + " " + resource + (group.isEmpty() ? "" : "." + group);
  }
}
