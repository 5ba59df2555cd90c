/** ResourceClaims and pods of the API: reading what they ask, deciding in turn, writing allocations. */
@NullMarked
package dev.partita.controller.claims;

import org.jspecify.annotations.NullMarked;
