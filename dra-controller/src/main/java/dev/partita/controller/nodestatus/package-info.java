/** What the controller writes into the status of GpuNodes, for their plugins and for people. */
@NullMarked
package dev.partita.controller.nodestatus;

import org.jspecify.annotations.NullMarked;
