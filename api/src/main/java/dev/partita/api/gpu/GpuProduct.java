package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.partita.api.Driver;

/**
 * What is the same for all cards of one product, as NVML describes it.
 *
 * @param productName such as "NVIDIA H200"
 * @param model short name: {@link Driver#modelOf}
 * @param brand such as "Nvidia"
 * @param architecture such as "Hopper"
 * @param cudaComputeCapability such as "9.0"
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record GpuProduct(
    String productName,
    String model,
    String brand,
    String architecture,
    String cudaComputeCapability) {

  /** A product whose short name follows from its name. */
  public static GpuProduct named(String name, String brand, String architecture, String cudaComputeCapability) {
    return new GpuProduct(name, Driver.modelOf(name), brand, architecture, cudaComputeCapability);
  }
}
