/** What every command needs: how it fails with one line for the user, and how it waits. */
@NullMarked
package dev.partita.cli.command;

import org.jspecify.annotations.NullMarked;
