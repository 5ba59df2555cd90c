/**
 * NVIDIA's Multi-Process Service: a control daemon for each card whose claims share it so, begun, watched and ended.
 */
@NullMarked
package dev.partita.plugin.mps;

import org.jspecify.annotations.NullMarked;
