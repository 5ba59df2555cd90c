/** Which pods are a gang, and whether as many of them are there as must be. */
@NullMarked
package dev.partita.controller.gang;

import org.jspecify.annotations.NullMarked;
