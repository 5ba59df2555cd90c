/** Sizes that owners of claims ask for while their shares are in use: whether they can have them, and the answer. */
@NullMarked
package dev.partita.controller.resize;

import org.jspecify.annotations.NullMarked;
