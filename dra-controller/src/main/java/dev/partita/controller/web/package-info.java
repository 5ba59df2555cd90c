/** The web page: who may see what, what is asked, and how it is sent. */
@NullMarked
package dev.partita.controller.web;

import org.jspecify.annotations.NullMarked;
