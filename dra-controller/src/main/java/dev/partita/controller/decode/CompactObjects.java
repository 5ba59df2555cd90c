package dev.partita.controller.decode;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes decoded objects of the API smaller. More than half of a pod in fabric8's model are empty lists and maps, two or
 * more in every object within it. All of them become one empty list and one empty map, which cannot be changed, and
 * other lists lose the room that they keep for more elements. The object says the same as before.
 */
final class CompactObjects {
  private static final String MODEL = "io.fabric8.kubernetes.";

  /** Of a class of the client's model, the fields that hold something else; of another class none. */
  private static final ClassValue<Field[]> FIELDS =
      new ClassValue<>() {
        @Override
        protected Field[] computeValue(Class<?> type) {
          List<Field> fields = new ArrayList<>();
          for (Class<?> of = isOfModel(type) ? type : null; of != null && of != Object.class; of = of.getSuperclass()) {
            for (Field field : of.getDeclaredFields()) {
              if (!Modifier.isStatic(field.getModifiers()) && !isPlain(field.getType())) {
                field.setAccessible(true);
                fields.add(field);
              }
            }
          }
          return fields.toArray(Field[]::new);
        }
      };

  private CompactObjects() {}

  /** Makes the object smaller and returns it. Nobody else may be reading it yet. */
  static <T> T compact(T object) {
    walk(object);
    return object;
  }

  private static void walk(@Nullable Object object) {
    switch (object) {
      case ArrayList<?> list -> {
        list.trimToSize();
        list.forEach(CompactObjects::walk);
      }
      case Collection<?> others -> others.forEach(CompactObjects::walk);
      case Map<?, ?> map -> map.forEach((name, value) -> walk(value)); // a view of the values would stay with the map
      case null -> {}
      default -> {
        for (Field field : FIELDS.get(object.getClass())) {
          walkField(object, field);
        }
      }
    }
  }

  private static void walkField(Object object, Field field) {
    try {
      @Nullable Object value = field.get(object);
      if (value instanceof List<?> list && list.isEmpty() && mayBe(field, List.class)) {
        field.set(object, List.of());
      } else if (value instanceof Map<?, ?> map && map.isEmpty() && mayBe(field, Map.class)) {
        field.set(object, Map.of());
      } else {
        walk(value);
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(field + " cannot be had", e);
    }
  }

  private static boolean mayBe(Field field, Class<?> type) {
    return field.getType() == type && !Modifier.isFinal(field.getModifiers());
  }

  private static boolean isOfModel(Class<?> type) {
    return !type.isEnum()
        && (type.getName().startsWith(MODEL) || (type.getSuperclass() != null && isOfModel(type.getSuperclass())));
  }

  /** Types that hold nothing else. */
  private static boolean isPlain(Class<?> type) {
    return type.isPrimitive() || type.isEnum() || type == String.class || Number.class.isAssignableFrom(type)
        || type == Boolean.class;
  }
}
