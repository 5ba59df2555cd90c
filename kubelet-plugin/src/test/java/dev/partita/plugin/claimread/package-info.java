@NullMarked
package dev.partita.plugin.claimread;

import org.jspecify.annotations.NullMarked;
