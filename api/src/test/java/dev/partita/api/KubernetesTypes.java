package dev.partita.api;

import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.util.List;
import java.util.Map;

/** Describes the fields of Kubernetes' own types in a CRD: fabric8's classes have no annotations for them. */
final class KubernetesTypes implements CRDPostProcessor {
  private static final List<Map<String, String>> DESCRIPTIONS = List.of(
      Map.of(
          "type", "What the condition tells of.",
          "status", "True, False or Unknown.",
          "reason", "Why, in a word.",
          "message", "The same in a sentence.",
          "lastTransitionTime", "Since when the status is so.",
          "observedGeneration", "The metadata.generation of which it tells."),
      Map.of(
          "matchLabels", "Labels that must be there, with these values.",
          "matchExpressions", "What else must hold of labels. All of it must."),
      Map.of(
          "key", "Name of the label.",
          "operator", "In, NotIn, Exists or DoesNotExist.",
          "values", "Values for In and NotIn; none for the others."));

  @Override
  public HasMetadata process(HasMetadata crd, String crdSpecVersion) {
    ((CustomResourceDefinition) crd).getSpec().getVersions()
        .forEach(version -> describe(version.getSchema().getOpenAPIV3Schema()));
    return crd;
  }

  private static void describe(JSONSchemaProps schema) {
    Map<String, JSONSchemaProps> fields = schema.getProperties();
    DESCRIPTIONS.stream().filter(type -> type.keySet().equals(fields.keySet()))
        .forEach(type -> fields.forEach((name, field) -> field.setDescription(type.get(name))));
    fields.values().forEach(KubernetesTypes::describe);
    if (schema.getItems() != null) {
      describe(schema.getItems().getSchema());
    }
  }
}
