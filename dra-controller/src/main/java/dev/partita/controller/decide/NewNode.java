package dev.partita.controller.decide;

/**
 * What one more node, of which nothing is taken, would change for a pod that waits. The cluster's nodes are what is
 * known of nodes that could be added.
 */
public sealed interface NewNode {
  /** For people. */
  String words();

  /** Whether an autoscaler is to know of the pod: not if one more node would be added in vain. */
  boolean mayHelp();

  /**
   * One more like this would do.
   *
   * @param node one of the cluster
   * @param cards what cards it has, for people
   */
  record Like(String node, String cards) implements NewNode {
    @Override
    public String words() {
      return "one more node like " + node + " (" + cards + ") would do";
    }

    @Override
    public boolean mayHelp() {
      return true;
    }
  }

  /** None of the cluster's nodes would do, were nothing of it taken. Whether others would, autoscalers may know. */
  record OfOtherKind() implements NewNode {
    @Override
    public String words() {
      return "one more node like those that there are would not do";
    }

    @Override
    public boolean mayHelp() {
      return true;
    }
  }

  /** Whether one more would do was not looked at. Autoscalers may know. */
  record Unknown() implements NewNode {
    @Override
    public String words() {
      return "it is not known whether one more node would do";
    }

    @Override
    public boolean mayHelp() {
      return true;
    }
  }

  /** One more would have room for the pod, which may not have it. */
  record OverQuota() implements NewNode {
    @Override
    public String words() {
      return "one more node would not do: a quota is what keeps the pod waiting";
    }

    @Override
    public boolean mayHelp() {
      return false;
    }
  }
}
