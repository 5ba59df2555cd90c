package dev.partita.controller.classes;

import dev.partita.api.DeviceMode;
import dev.partita.api.Driver;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelector;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelectorBuilder;
import java.util.List;
import java.util.NavigableSet;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Says which DeviceClasses the cluster should have, and what they select. */
public final class ClassPlan {
  /** What a model must look like to name a class and to stand in an expression; the plugin's names always do. */
  private static final Pattern MODEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?");

  private ClassPlan() {}

  /**
   * Selectors by name of the class: a share of any card, a whole card, a MIG instance, a share of one where a node
   * offers that, and a share of each model that a node has. Opaque cards have classes of their own, and no other class
   * selects one: nobody gets one who did not ask for that.
   */
  public static SortedMap<String, List<DeviceSelector>> of(Inventory inventory) {
    SortedMap<String, List<DeviceSelector>> classes = new TreeMap<>();
    classes.put(Driver.SHARE_CLASS, List.of(selector(mode(DeviceMode.SHARED))));
    classes.put(Driver.WHOLE_CLASS, List.of(selector(mode(DeviceMode.WHOLE))));
    classes.put(Driver.MIG_CLASS, List.of(selector(mode(DeviceMode.MIG))));
    if (inventory.hosts().values().stream().anyMatch(ClassPlan::offersInstanceShares)) {
      classes.put(Driver.MIG_SHARE_CLASS, List.of(selector(mode(DeviceMode.MIG_SHARED))));
    }
    for (String model : models(inventory, true)) {
      classes.put(Driver.OPAQUE_CLASS, List.of(selector(mode(DeviceMode.OF_OPAQUE))));
      classes.put(
          Driver.classOfOpaqueModel(model),
          List.of(selector(mode(DeviceMode.OF_OPAQUE) + " && " + attribute("model") + " == \"" + model + "\"")));
    }
    for (String model : models(inventory, false)) {
      classes.putIfAbsent(
          Driver.classOfModel(model),
          List.of(selector(mode(DeviceMode.SHARED) + " && " + attribute("model") + " == \"" + model + "\"")));
    }
    return classes;
  }

  private static boolean offersInstanceShares(GpuHost host) {
    return host.devices().stream().anyMatch(device -> device.mode() == DeviceMode.MIG_SHARED);
  }

  private static NavigableSet<String> models(Inventory inventory, boolean opaque) {
    NavigableSet<String> models = new TreeSet<>();
    for (GpuHost host : inventory.hosts().values()) {
      host.cards().stream().filter(card -> card.gpu().isOpaque() == opaque).map(Card::model)
          .filter(model -> MODEL.matcher(model).matches()).forEach(models::add);
    }
    return models;
  }

  private static String mode(DeviceMode mode) {
    return mode(mode.attributeValue());
  }

  private static String mode(String value) {
    return "device.driver == \"" + Driver.NAME + "\" && " + attribute("mode") + " == \"" + value + "\"";
  }

  private static String attribute(String name) {
    return "device.attributes[\"" + Driver.NAME + "\"]." + name;
  }

  private static DeviceSelector selector(String expression) {
    return new DeviceSelectorBuilder().withNewCel().withExpression(expression).endCel().build();
  }
}
