/**
 * Pods and their claims decided one after the other: whose turn it is, what is written for them, who is evicted for
 * them.
 */
@NullMarked
package dev.partita.controller.schedule;

import org.jspecify.annotations.NullMarked;
