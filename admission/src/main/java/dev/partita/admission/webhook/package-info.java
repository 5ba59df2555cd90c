/** What happens to a pod on its way into the cluster: a pure answer, without a server, a clock or a cluster. */
@NullMarked
package dev.partita.admission.webhook;

import org.jspecify.annotations.NullMarked;
