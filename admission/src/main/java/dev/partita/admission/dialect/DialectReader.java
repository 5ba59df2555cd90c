package dev.partita.admission.dialect;

import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

/** Reads what a pod asks for in one dialect. */
public sealed interface DialectReader {
  /** A dialect in which containers ask by extended resources. */
  non-sealed interface OfResources extends DialectReader {
    /**
     * Amounts beyond every card, the least unit being a MiB, and far from overflowing when multiplied by a unit. Memory
     * that is given in bytes, such as 1Gi, is more. In a larger unit the reader has to look at what it comes to.
     */
    long MOST = 10_000_000;

    /** The resources that it understands, for people. */
    Set<String> resources();

    /** Whether it understands a resource. */
    default boolean understands(String resource) {
      return resources().contains(resource);
    }

    /** How to ask in the place of a resource that it does not understand, for people; empty if nothing is like it. */
    default Optional<String> instead(String resource) {
      return Optional.empty();
    }

    /** The most that can be asked for of a resource. */
    default long most(String resource) {
      return MOST;
    }

    /**
     * What the container asks for. Only resources that it understands are asked about, and not all are zero.
     *
     * @param problems takes everything that cannot be converted, with the field's path; then nothing is given
     */
    Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> problems);

    /**
     * What a container that is converted says beside that, which has no effect here, or was guessed: what to know of
     * it, with the field's path.
     */
    default List<FieldError> notes(ResourceRequests asked, PodContext pod) {
      return List.of();
    }
  }

  /** A dialect in which the pod asks for its containers, by annotations, which go when it is converted. */
  non-sealed interface OfAnnotations extends DialectReader {
    /** The pod's annotations by which it asks; none if it does not. */
    SortedSet<String> asking(PodContext pod);

    /**
     * What its containers ask for.
     *
     * @param problems takes everything that cannot be converted, with the field's path; then nothing counts
     */
    List<AnnotatedContainer> read(PodContext pod, List<FieldError> problems);
  }

  /**
   * A container that a pod asks for.
   *
   * @param kind {@code containers} or {@code initContainers}
   * @param index in that list
   * @param path of the annotation
   * @param notes as {@link OfResources#notes} has them
   */
  record AnnotatedContainer(String kind, int index, String path, GpuRequest request, List<FieldError> notes) {
    public AnnotatedContainer {
      notes = List.copyOf(notes);
    }
  }
}
