/** How long programs have a card in turn: what claims ask for, and setting it by the driver's nvidia-smi. */
@NullMarked
package dev.partita.plugin.timeslice;

import org.jspecify.annotations.NullMarked;
