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
 * Reckons how large and how deep a YAML document is once what its aliases stand for is written out, as in the output. A
 * few lines can stand for more than any memory holds: {@code b: [*a, *a]}, {@code c: [*b, *b]} and so on, or for more
 * collections in one another than any stack: {@code b: [[*a]]}, {@code c: [[*b]]}. So it is reckoned before anything is
 * made of the document.
 */
final class AliasedSize {
  /** Characters that aliases may add to a document. */
  private static final long MOST = 16 << 20;

  /** What a value or a collection counts beside its characters: about what it takes to hold one. */
  private static final long EACH = 16;

  private static final long BEYOND = 1L << 50;
  private static final Extent UNKNOWN = new Extent(-1, -1);

  /** What a node of YAML stands for: how much it takes, and how many collections are in one another there. */
  private record Extent(long size, int depth) {
    Extent with(Extent inner) {
      return new Extent(Math.min(BEYOND, size + inner.size), Math.max(depth, inner.depth + 1));
    }
  }

  private final Map<Node, Extent> anchored = new HashMap<>(); // nodes are equal to themselves alone
  private long written;

  private AliasedSize() {}

  /**
   * Refuses a document whose aliases stand for too much, or are in one another too deep.
   *
   * @throws YAMLException if they are, or if what an alias stands for holds that alias
   */
  static void check(Node document) {
    AliasedSize size = new AliasedSize();
    if (size.of(document).size - size.written > MOST) {
      throw new YAMLException("its aliases stand for more than " + (MOST >> 20) + " MiB; write it in parts");
    }
  }

  private Extent of(Node node) {
    Extent known = anchored.get(node);
    if (UNKNOWN.equals(known)) {
      throw new YAMLException("what &" + node.getAnchor() + " stands for holds *" + node.getAnchor());
    }
    if (known != null) {
      return known;
    }
    boolean isAnchored = node.getAnchor() != null;
    if (isAnchored) {
      anchored.put(node, UNKNOWN);
    }
    Extent extent =
        node instanceof ScalarNode scalar ? new Extent(EACH + scalar.getValue().length(), 0) : new Extent(EACH, 1);
    written += extent.size;
    if (node instanceof SequenceNode sequence) {
      for (Node item : sequence.getValue()) {
        extent = extent.with(of(item));
      }
    } else if (node instanceof MappingNode mapping) {
      for (NodeTuple entry : mapping.getValue()) {
        extent = extent.with(of(entry.getKeyNode())).with(of(entry.getValueNode()));
      }
    }
    if (extent.depth > YamlText.MAX_DEPTH) {
      throw new YAMLException("Nesting Depth exceeded max " + YamlText.MAX_DEPTH); // as the parser says it
    }
    if (isAnchored) {
      anchored.put(node, extent);
    }
    return extent;
  }
}
