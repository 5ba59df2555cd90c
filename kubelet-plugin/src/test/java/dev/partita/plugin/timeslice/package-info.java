@NullMarked
package dev.partita.plugin.timeslice;

import org.jspecify.annotations.NullMarked;
