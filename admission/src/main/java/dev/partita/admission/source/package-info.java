/** What is given of a pod that asks in another system's way, beside its containers: values. */
@NullMarked
package dev.partita.admission.source;

import org.jspecify.annotations.NullMarked;
