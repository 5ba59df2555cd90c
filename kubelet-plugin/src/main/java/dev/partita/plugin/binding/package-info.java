/** Makes MIG instances for claims of which kube-scheduler has not bound the pods yet. */
@NullMarked
package dev.partita.plugin.binding;

import org.jspecify.annotations.NullMarked;
