/** kubelet's DRA services, versions v1 and v1beta1, over one interface. */
@NullMarked
package dev.partita.plugin.dra;

import org.jspecify.annotations.NullMarked;
