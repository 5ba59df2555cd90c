/** gRPC over unix sockets, as kubelet and its plugins speak. */
@NullMarked
package dev.partita.plugin.socket;

import org.jspecify.annotations.NullMarked;
