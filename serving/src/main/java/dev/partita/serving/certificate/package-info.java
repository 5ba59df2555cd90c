/** Certificates that a server of ours makes and serves with: an authority, what it issues, and the keys in use. */
@NullMarked
package dev.partita.serving.certificate;

import org.jspecify.annotations.NullMarked;
