package dev.partita.controller.decode;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Estimates what an object of the API takes of the heap: with references of four bytes, headers of twelve and objects
 * in steps of eight, as HotSpot lays them out below 32 GiB. Text that several objects share counts for each, and empty
 * lists and maps for none.
 */
final class ObjectBytes {
  private static final int STEP = 8;
  private static final int HEADER = 12;
  private static final int REFERENCE = 4;
  private static final int STRING = 24;
  private static final int ARRAY = 16;
  private static final int LIST = 24;
  private static final int MAP = 64;
  private static final int MAP_ENTRY = 48;
  private static final int BOXED = 16;

  /** How an object is laid out: its own bytes, and the fields that refer to others. */
  private record Layout(int bytes, List<Field> references) {}

  private static final ClassValue<Layout> LAYOUTS =
      new ClassValue<>() {
        @Override
        protected Layout computeValue(Class<?> type) {
          int bytes = HEADER;
          List<Field> references = new ArrayList<>();
          for (Class<?> of = type; of != null && of != Object.class; of = of.getSuperclass()) {
            for (Field field : of.getDeclaredFields()) {
              if (!Modifier.isStatic(field.getModifiers())) {
                bytes += field.getType().isPrimitive() ? primitive(field.getType()) : REFERENCE;
                if (!field.getType().isPrimitive() && !field.getType().isEnum() && isOpen(of)) {
                  field.setAccessible(true);
                  references.add(field);
                }
              }
            }
          }
          return new Layout(bytes, List.copyOf(references));
        }
      };

  private ObjectBytes() {}

  /** Bytes of the object and of all that it alone refers to. */
  static long of(@Nullable Object object) {
    return switch (object) {
      case null -> 0;
      case Enum<?> _ -> 0;
      case String text -> STRING + aligned(ARRAY + (long) text.length());
      case Number _,Boolean _,Character _ -> BOXED;
      case Map<?, ?> map when map.isEmpty() -> 0;
      case Map<?, ?> map -> {
        long bytes = MAP + ARRAY;
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          bytes += MAP_ENTRY + of(entry.getKey()) + of(entry.getValue());
        }
        yield bytes;
      }
      case Collection<?> list when list.isEmpty() -> 0;
      case Collection<?> list -> {
        long bytes = LIST + aligned(ARRAY + (long) REFERENCE * list.size());
        for (Object element : list) {
          bytes += of(element);
        }
        yield bytes;
      }
      default -> object.getClass().isArray() ? array(object) : fields(object);
    };
  }

  private static long array(Object array) {
    Class<?> type = array.getClass().getComponentType();
    int length = Array.getLength(array);
    long bytes = aligned(ARRAY + (long) length * (type.isPrimitive() ? primitive(type) : REFERENCE));
    for (int i = 0; i < length && !type.isPrimitive(); i++) {
      bytes += of(Array.get(array, i));
    }
    return bytes;
  }

  private static long fields(Object object) {
    Layout layout = LAYOUTS.get(object.getClass());
    long bytes = aligned(layout.bytes());
    for (Field field : layout.references()) {
      try {
        bytes += of(field.get(object));
      } catch (IllegalAccessException e) {
        throw new IllegalStateException(field + " cannot be had", e);
      }
    }
    return bytes;
  }

  /** Classes of the JDK do not let others see their fields. */
  private static boolean isOpen(Class<?> type) {
    return type.getClassLoader() != null;
  }

  private static int primitive(Class<?> type) {
    if (type == long.class || type == double.class) {
      return Long.BYTES;
    }
    return type == boolean.class || type == byte.class ? 1 : Integer.BYTES;
  }

  private static long aligned(long bytes) {
    return (bytes + STEP - 1) / STEP * STEP;
  }
}
