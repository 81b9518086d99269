import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** The protocol of a peer. */
final class Protocol {
  private static final long WARM_UP_NANOSECONDS = 500_000_000;
  private static final int MAXIMUM_COUNT = 10_000_000;

  private final List<Way> ways;
  private final Set<Way> warm = new HashSet<>();

  Protocol(List<Way> ways) {
    this.ways = ways;
  }

  /** The number of threads of a pool. */
  static int workers() {
    String text = System.getenv("PEER_WORKERS");
    return text != null && text.matches("[1-9][0-9]{0,3}") ? Integer.parseInt(text) : 2;
  }

  /** Prints the ways, then answers requests until there are no more. */
  void serve() throws IOException {
    for (Way way : ways) {
      System.out.println("way\t" + way.shape() + "\t" + way.name());
    }
    System.out.println("ready");
    var requests = new BufferedReader(new InputStreamReader(System.in));
    for (String request; (request = requests.readLine()) != null; ) {
      try {
        System.out.println(answer(request));
      } catch (Exception failure) {
        System.out.println("error " + failure.getMessage());
      }
    }
  }

  private String answer(String request) throws Exception {
    if (!request.matches("[0-9]{1,9} [0-9]{1,9}")) {
      throw new IllegalArgumentException("a request is two numbers");
    }
    String[] words = request.split(" ");
    int number = Integer.parseInt(words[0]);
    int count = Integer.parseInt(words[1]);
    if (number >= ways.size()) {
      throw new IllegalArgumentException("there is no such way");
    }
    if (count < 1 || count > MAXIMUM_COUNT) {
      throw new IllegalArgumentException("the count must be from 1 to " + MAXIMUM_COUNT);
    }

    Way way = ways.get(number);
    if (warm.add(way)) {
      warmUp(way, count);
    }
    wake(way.pool());
    long start = System.nanoTime();
    long checksum = way.run().checksum(count);
    long nanoseconds = System.nanoTime() - start;
    settle();
    return nanoseconds + " " + Long.toUnsignedString(checksum);
  }

  /** Gives the compiler time to compile frequent code to machine code. */
  private static void warmUp(Way way, int count) throws Exception {
    long end = System.nanoTime() + WARM_UP_NANOSECONDS;
    while (System.nanoTime() < end) {
      way.run().checksum(count);
    }
    settle();
  }

  /** Keeps every core busy briefly, because a sleeping core takes long to start. */
  private static void wake(ExecutorService pool) throws Exception {
    var arrived = new AtomicInteger();
    var futures = new ArrayList<Future<?>>();
    for (int worker = 0; worker < workers(); worker++) {
      futures.add(pool.submit(() -> meet(arrived)));
    }
    for (Future<?> future : futures) {
      future.get();
    }
  }

  /**
   * Waits until the threads are idle, so that they take no time from the next measurement: the
   * threads of the collector and the compiler continue after a run. The system may update the time
   * of a thread only every 10 ms.
   */
  private static void settle() throws InterruptedException {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    for (int waits = 0; waits < 10; waits++) {
      long before = system.getProcessCpuTime();
      Thread.sleep(10);
      if (system.getProcessCpuTime() - before < 1_000_000) {
        return;
      }
    }
  }

  private static void meet(AtomicInteger arrived) {
    arrived.incrementAndGet();
    long limit = System.nanoTime() + 30_000_000;
    while (arrived.get() < workers() && System.nanoTime() < limit) {
      Thread.onSpinWait();
    }
    long end = System.nanoTime() + 200_000;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
