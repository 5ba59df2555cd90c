/**
 * What the controller knows beyond the cluster as it is: what is taken and about to be taken, and whom nodes refused.
 */
@NullMarked
package dev.partita.controller.state;

import org.jspecify.annotations.NullMarked;
