@NullMarked
package dev.partita.plugin.held;

import org.jspecify.annotations.NullMarked;
