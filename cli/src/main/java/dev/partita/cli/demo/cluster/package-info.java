/** A cluster in this process: the shipped controller, and nodes with simulated cards and the shipped plugin. */
@NullMarked
package dev.partita.cli.demo.cluster;

import org.jspecify.annotations.NullMarked;
