package dev.partita.admission.dialect;

import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads what a container asks for in one dialect. */
public interface DialectReader {
  /** The resources that it understands. */
  Set<String> resources();

  /**
   * What the container asks for. Only resources that it understands are asked about, and not all are zero.
   *
   * @param problems takes everything that cannot be converted, with the field's path; then nothing is given
   */
  Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> problems);

  /**
   * What a container that is converted says beside that, which has no effect here: what to know of it, with the field's
   * path.
   */
  default List<FieldError> notes(ResourceRequests asked) {
    return List.of();
  }
}
