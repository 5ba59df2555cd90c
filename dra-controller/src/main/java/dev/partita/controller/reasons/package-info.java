/** Why no host can serve the claims of a pod, host by host and card by card. */
@NullMarked
package dev.partita.controller.reasons;

import org.jspecify.annotations.NullMarked;
