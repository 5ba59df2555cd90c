package dev.partita.plugin.usage.excess;

/**
 * What is done about a process that holds more of a card's memory than its claims allow, and more than contexts and
 * modules explain. A share that has too much of a card's time is only reported: an honest one can have that (by a long
 * kernel, or by copies), and its neighbours get theirs back by themselves.
 */
public enum OnExcess {
  /** The claim's status and an event say so. */
  REPORT,
  /** Besides, the process gets SIGKILL; its memory is the others' again, and kubelet restarts the container. */
  KILL
}
