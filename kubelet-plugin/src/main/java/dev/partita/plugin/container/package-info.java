/** Which cards a container really gets, and the numbers that CUDA gives them there. */
@NullMarked
package dev.partita.plugin.container;

import org.jspecify.annotations.NullMarked;
