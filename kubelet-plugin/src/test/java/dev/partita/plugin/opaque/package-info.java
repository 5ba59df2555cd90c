@NullMarked
package dev.partita.plugin.opaque;

import org.jspecify.annotations.NullMarked;
