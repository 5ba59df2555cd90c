/**
 * ResourceClaimTemplates for pods that asked in another system's way: what should be there (pure), and making and
 * deleting them.
 */
@NullMarked
package dev.partita.controller.templates;

import org.jspecify.annotations.NullMarked;
