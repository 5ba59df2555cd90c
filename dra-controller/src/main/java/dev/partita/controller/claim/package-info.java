/** ResourceClaims and pods read as values, and an allocation written as a ResourceClaim has it. */
@NullMarked
package dev.partita.controller.claim;

import org.jspecify.annotations.NullMarked;
