/**
 * Counts devices that a node's plugin still has prepared for claims that were deleted or are allocated elsewhere, so
 * that nobody else gets them: such a device is held.
 */
@NullMarked
package dev.partita.controller.held;

import org.jspecify.annotations.NullMarked;
