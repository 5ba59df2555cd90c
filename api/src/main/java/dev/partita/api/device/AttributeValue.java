package dev.partita.api.device;

/** Value of a device's attribute: one of the four kinds that a ResourceSlice knows. */
public sealed interface AttributeValue {
  record Text(String value) implements AttributeValue {
    @Override
    public String toString() {
      return value;
    }
  }

  record Int(long value) implements AttributeValue {
    @Override
    public String toString() {
      return Long.toString(value);
    }
  }

  record Flag(boolean value) implements AttributeValue {
    @Override
    public String toString() {
      return Boolean.toString(value);
    }
  }

  record Version(SemanticVersion value) implements AttributeValue {
    @Override
    public String toString() {
      return value.toString();
    }
  }
}
