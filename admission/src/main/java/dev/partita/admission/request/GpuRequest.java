package dev.partita.admission.request;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceAttribute;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * What one container asks for, in Partita's terms.
 *
 * @param count of cards, or of instances, from 1 to 32; shares are of different cards
 * @param portion what is asked of each card
 * @param choice which cards may be used
 * @param options what the opaque config says
 */
public record GpuRequest(int count, Portion portion, CardChoice choice, ShareOptions options) {
  /** Most devices of one allocation (resource.k8s.io/v1, AllocationResultsMaxSize). */
  public static final int MAX_COUNT = 32;

  public GpuRequest {
    if (count < 1 || count > MAX_COUNT) {
      throw new IllegalArgumentException("count must be from 1 to " + MAX_COUNT + ": " + count);
    }
    if (options.memoryLimit().isPresent()
        && !(portion instanceof Portion.Share(Memory.Bytes(long bytes), var _)
            && bytes < options.memoryLimit().getAsLong())) {
      throw new IllegalArgumentException("memoryLimit is for a share, and more than an amount that it asks for");
    }
  }

  /** CEL expressions that every card has to satisfy. */
  public List<String> selectors() {
    if (!(portion instanceof Portion.Instance(InstanceSize.Profile(String name)))) {
      return choice.selectors();
    }
    List<String> selectors = new ArrayList<>();
    selectors.add("device.attributes[" + Cel.text(Driver.NAME) + "]." + DeviceAttribute.PROFILE.identifier() + " == "
        + Cel.text(name));
    selectors.addAll(choice.selectors());
    return selectors;
  }

  /** What is asked of each card. */
  public sealed interface Portion {
    /** All of it, and nobody else on it. */
    record Whole() implements Portion {}

    /**
     * A part of its memory, and of its time if cores are asked for; others may have the rest.
     *
     * @param cores percent of the card, 1 to 100; empty for no limit and no guarantee
     */
    record Share(Memory memory, OptionalInt cores) implements Portion {
      public Share {
        if (cores.isPresent() && (cores.getAsInt() < 1 || cores.getAsInt() > 100)) {
          throw new IllegalArgumentException("cores must be from 1 to 100: " + cores.getAsInt());
        }
      }
    }

    /** A MIG instance of the card. */
    record Instance(InstanceSize size) implements Portion {}

    /** The card in turn with others, of whom nobody is held to anything. */
    record Turn() implements Portion {}

    /**
     * What a DeviceClass describes: of a class of shares all the memory that the card offers.
     *
     * @param name of a class of Partita's
     */
    record OfClass(String name) implements Portion {
      private static final Pattern NAME =
          Pattern.compile("([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.){0,8}" + Pattern.quote(Driver.SHARE_CLASS));

      public OfClass {
        if (!isName(name)) {
          throw new IllegalArgumentException("is no DeviceClass of Partita's: " + name);
        }
      }

      /** Whether a class of Partita's could have that name: classes of models end like the one of all shares. */
      public static boolean isName(String name) {
        return NAME.matcher(name).matches();
      }
    }
  }

  /** Which MIG instance. */
  public sealed interface InstanceSize {
    /** One of that profile, such as {@code 1g.18gb}, as NVML names it. */
    record Profile(String name) implements InstanceSize {
      private static final Pattern NAME =
          Pattern.compile("([1-9]c\\.)?[1-9]g\\.[1-9][0-9]{0,3}gb([+-][a-z]{1,8}(\\.[a-z]{1,8})?)?");

      public Profile {
        if (!isName(name)) {
          throw new IllegalArgumentException("mig must be a profile such as 1g.18gb: " + name);
        }
      }

      /** Whether a profile could have that name. */
      public static boolean isName(String name) {
        return NAME.matcher(name).matches();
      }
    }

    /** The smallest that has so many bytes, more than none. */
    record AtLeast(long bytes) implements InstanceSize {
      public AtLeast {
        if (bytes < 1) {
          throw new IllegalArgumentException("migMemory must be more than 0: " + bytes);
        }
      }
    }
  }

  /** How much memory of a card. */
  public sealed interface Memory {
    /** All of it. */
    record All() implements Memory {}

    /** That many, more than none. */
    record Bytes(long bytes) implements Memory {
      public Bytes {
        if (bytes < 1) {
          throw new IllegalArgumentException("memory must be more than 0: " + bytes);
        }
      }
    }

    /** So much of what the card offers, 1 to 99. */
    record Percent(int percent) implements Memory {
      public Percent {
        if (percent < 1 || percent > 99) {
          throw new IllegalArgumentException(
              "memoryPercent must be from 1 to 99, or be left out for all of it: " + percent);
        }
      }
    }
  }
}
