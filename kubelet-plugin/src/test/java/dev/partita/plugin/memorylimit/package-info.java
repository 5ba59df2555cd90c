@NullMarked
package dev.partita.plugin.memorylimit;

import org.jspecify.annotations.NullMarked;
