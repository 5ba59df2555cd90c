/**
 * Admission webhooks: what the API server asks, and the answers. They have no side effects, and every instance serves
 * them.
 */
@NullMarked
package dev.partita.controller.admission;

import org.jspecify.annotations.NullMarked;
