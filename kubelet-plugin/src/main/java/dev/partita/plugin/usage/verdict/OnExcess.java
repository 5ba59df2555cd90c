package dev.partita.plugin.usage.verdict;

/**
 * What is done about a process that holds more of a card's memory than its claims allow, and more than contexts and
 * modules explain. Of its time a share that has too much is only told: an honest one can (a long kernel, copies), and
 * neighbours get theirs back by themselves.
 */
public enum OnExcess {
  /** The claim's status and an event say so. */
  REPORT,
  /** Besides, the process gets SIGKILL; its memory is the others' again, and kubelet restarts the container. */
  KILL
}
