/** The program of the cluster: publishes what the nodes have, and allocates claims. */
@NullMarked
package dev.partita.controller;

import org.jspecify.annotations.NullMarked;
