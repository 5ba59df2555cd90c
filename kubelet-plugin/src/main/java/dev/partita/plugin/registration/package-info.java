/** How kubelet finds the plugin: sockets and the registration service. */
@NullMarked
package dev.partita.plugin.registration;

import org.jspecify.annotations.NullMarked;
