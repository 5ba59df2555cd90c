package dev.partita.api.quota;

import dev.partita.api.Driver;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;

/**
 * How much of the cluster's cards some namespaces may have together; cluster-scoped. The controller writes the status.
 */
@Group(Driver.API_GROUP)
@Version(Driver.API_VERSION)
@Kind("GpuQuota")
@Plural("gpuquotas")
@Singular("gpuquota")
@ShortNames("gq")
@AdditionalPrinterColumn(
    name = "Namespaces", jsonPath = ".status.namespaces",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Memory", jsonPath = ".status.used.memory")
@AdditionalPrinterColumn(name = "Cores", jsonPath = ".status.used.cores", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Cards", jsonPath = ".status.used.cards", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Claims", jsonPath = ".status.used.claims", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Fullest", jsonPath = ".status.fullest")
@AdditionalPrinterColumn(name = "Problem", jsonPath = ".status.problem", priority = 1)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
public class GpuQuota extends CustomResource<GpuQuotaSpec, GpuQuotaStatus> {
  @Override
  protected GpuQuotaSpec initSpec() {
    return GpuQuotaSpec.NOBODY;
  }
}
