import java.util.concurrent.ExecutorService;

/** A way to do the work of a shape, on the threads of a pool. */
record Way(String shape, String name, ExecutorService pool, Run run) {
  interface Run {
    /** Does the work once and returns its checksum. */
    long checksum(int count) throws Exception;
  }
}
