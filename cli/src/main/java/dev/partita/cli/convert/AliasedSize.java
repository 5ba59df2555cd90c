package dev.partita.cli.convert;

import java.util.HashMap;
import java.util.Map;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * How large a document is once what its aliases stand for is written out, as it is in the output. A few lines can stand
 * for more than any memory holds: {@code b: [*a, *a]}, {@code c: [*b, *b]} and so on. So it is reckoned before anything
 * is made of the document.
 */
final class AliasedSize {
  /** Characters that aliases may add to a document. */
  private static final long MOST = 16 << 20;

  /** What a value or a collection counts beside its characters: about what it takes to hold one. */
  private static final long EACH = 16;

  private static final long BEYOND = 1L << 50;
  private static final long UNKNOWN = -1;

  private final Map<Node, Long> anchored = new HashMap<>(); // nodes are equal to themselves alone
  private long written;

  private AliasedSize() {}

  /**
   * Refuses a document whose aliases stand for too much.
   *
   * @throws YAMLException if they do, or if what an alias stands for holds that alias
   */
  static void check(Node document) {
    AliasedSize size = new AliasedSize();
    if (size.of(document) - size.written > MOST) {
      throw new YAMLException("its aliases stand for more than " + (MOST >> 20) + " MiB; write it in parts");
    }
  }

  private long of(Node node) {
    Long known = anchored.get(node);
    if (known != null && known == UNKNOWN) {
      throw new YAMLException("what &" + node.getAnchor() + " stands for holds *" + node.getAnchor());
    }
    if (known != null) {
      return known;
    }
    boolean isAnchored = node.getAnchor() != null;
    if (isAnchored) {
      anchored.put(node, UNKNOWN);
    }
    long own = EACH + (node instanceof ScalarNode scalar ? scalar.getValue().length() : 0);
    written += own;
    long size = own;
    if (node instanceof SequenceNode sequence) {
      for (Node item : sequence.getValue()) {
        size = Math.min(BEYOND, size + of(item));
      }
    } else if (node instanceof MappingNode mapping) {
      for (NodeTuple entry : mapping.getValue()) {
        size = Math.min(BEYOND, size + of(entry.getKeyNode()) + of(entry.getValueNode()));
      }
    }
    if (isAnchored) {
      anchored.put(node, size);
    }
    return size;
  }
}
