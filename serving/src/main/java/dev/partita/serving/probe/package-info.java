/** What kubelet's probes of a program are told, in the program's log. */
@NullMarked
package dev.partita.serving.probe;

import org.jspecify.annotations.NullMarked;
