package dev.partita.admission.convert;

import dev.partita.admission.dialect.GpuRequest;
import dev.partita.admission.dialect.ResourceRequests;
import dev.partita.api.config.FieldError;
import java.util.List;

/**
 * A container that asks for GPUs.
 *
 * @param kind {@code containers} or {@code initContainers}
 * @param index in that list
 * @param name of the container
 * @param endsFirst whether it is over before the pod's own containers begin: an init container that is no sidecar
 * @param notes what it says that has no effect here
 */
record ContainerRequest(
    String kind,
    int index,
    String name,
    boolean endsFirst,
    ResourceRequests asked,
    GpuRequest request,
    List<FieldError> notes) {
  ContainerRequest {
    notes = List.copyOf(notes);
  }
}
