package dev.partita.admission.convert;

import dev.partita.admission.request.GpuRequest;
import dev.partita.api.config.FieldError;
import java.util.Collection;
import java.util.List;

/**
 * A container that asks for GPUs.
 *
 * @param kind {@code containers} or {@code initContainers}
 * @param index in that list
 * @param name of the container
 * @param endsFirst whether it is over before the pod's own containers begin: an init container that is no sidecar
 * @param path of what asks
 * @param resources that ask, and go when it has a claim; none if annotations of the pod ask for it
 * @param notes what it says that has no effect here
 */
record ContainerRequest(
    String kind,
    int index,
    String name,
    boolean endsFirst,
    String path,
    Collection<String> resources,
    GpuRequest request,
    List<FieldError> notes) {
  ContainerRequest {
    resources = List.copyOf(resources);
    notes = List.copyOf(notes);
  }
}
