import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.classfile.attribute.StackMapTableAttribute;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.LocalDateTime;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Writes jars anew for an archive that is compressed as a whole, of which they take two fifths less then. Their files
 * are not compressed one by one, so that what class files have in common counts once; and class files lose the tables
 * of local variables, which debuggers alone read. The numbers of lines stay, for stack traces.
 *
 * <pre>java SmallerJars.java JAR...</pre>
 */
final class SmallerJars {
  private static final LocalDateTime FIRST = LocalDateTime.of(1980, 1, 1, 0, 0); // that a jar can hold

  private static final ClassFile TOOL =
      ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG, ClassFile.ConstantPoolSharingOption.NEW_POOL,
          ClassFile.StackMapsOption.DROP_STACK_MAPS, ClassFile.DeadCodeOption.KEEP_DEAD_CODE);

  /** Stack maps are taken over: to make them anew, each class that a program could do without would have to be there. */
  private static final ClassTransform SMALLER =
      (type, part) -> {
        if (part instanceof MethodModel method) {
          type.transformMethod(method, (builder, element) -> {
            if (element instanceof CodeModel code) {
              builder.transformCode(code, withMapsOf(code));
            } else {
              builder.with(element);
            }
          });
        } else {
          type.with(part);
        }
      };

  private SmallerJars() {}

  public static void main(String[] jars) throws IOException {
    for (String jar : jars) {
      rewrite(Path.of(jar));
    }
  }

  private static void rewrite(Path jar) throws IOException {
    FileTime modified = Files.getLastModifiedTime(jar);
    Map<String, byte[]> files = new TreeMap<>(); // what is alike lies together
    try (ZipFile old = new ZipFile(jar.toFile())) {
      for (ZipEntry file : Collections.list(old.entries())) {
        byte[] bytes = old.getInputStream(file).readAllBytes();
        files.put(file.getName(), isOfAClass(file.getName()) ? smaller(bytes) : bytes);
      }
    }
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(jar));
        ZipOutputStream written = new ZipOutputStream(out)) {
      written.setMethod(ZipOutputStream.STORED);
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        CRC32 sum = new CRC32();
        sum.update(file.getValue());
        ZipEntry entry = new ZipEntry(file.getKey());
        entry.setTimeLocal(FIRST);
        entry.setSize(file.getValue().length);
        entry.setCrc(sum.getValue());
        written.putNextEntry(entry);
        written.write(file.getValue());
      }
    }
    Files.setLastModifiedTime(jar, modified);
  }

  private static boolean isOfAClass(String file) {
    return file.endsWith(".class") && !file.endsWith("module-info.class");
  }

  private static byte[] smaller(byte[] bytes) {
    return TOOL.transformClass(TOOL.parse(bytes), SMALLER);
  }

  private static CodeTransform withMapsOf(CodeModel code) {
    return new CodeTransform() {
      @Override
      public void accept(CodeBuilder builder, CodeElement element) {
        if (!(element instanceof StackMapTableAttribute)) {
          builder.with(element);
        }
      }

      @Override
      public void atEnd(CodeBuilder builder) {
        ((CodeAttribute) code).findAttribute(Attributes.stackMapTable()).ifPresent(builder::with);
      }
    };
  }
}
