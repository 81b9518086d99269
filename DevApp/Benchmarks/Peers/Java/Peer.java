import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The measured work in Java: fork-join tasks, completable futures and pools of threads. */
final class Peer {
  private static final int BUSY_STEPS = 800;

  private static final ForkJoinPool forkJoin = new ForkJoinPool(Protocol.workers());
  private static final ExecutorService threads = Executors.newFixedThreadPool(Protocol.workers());
  private static final ScheduledExecutorService scheduled =
      Executors.newScheduledThreadPool(Protocol.workers());

  public static void main(String[] arguments) throws Exception {
    var ways =
        List.of(
            forkJoin("fan-out", "Java ForkJoinPool invokeAll", count -> invokeAll(count, 0)),
            forkJoin(
                "fan-out", "Java CompletableFuture runAsync, allOf", count -> allOf(count, 0)),
            threads("fan-out", "Java thread pool invokeAll", count -> threadPool(count, 0)),
            forkJoin("busy", "Java ForkJoinPool invokeAll", count -> invokeAll(count, BUSY_STEPS)),
            forkJoin(
                "busy",
                "Java CompletableFuture runAsync, allOf",
                count -> allOf(count, BUSY_STEPS)),
            threads("busy", "Java thread pool invokeAll", count -> threadPool(count, BUSY_STEPS)),
            forkJoin("chain", "Java CompletableFuture thenApplyAsync", Peer::thenApplyAsync),
            forkJoin("nested", "Java ForkJoinPool invokeAll", Peer::nested),
            forkJoin("pairs", "Java ForkJoinPool invokeAll", count -> groupsInTurn(2, count)),
            forkJoin("eights", "Java ForkJoinPool invokeAll", count -> groupsInTurn(8, count)),
            forkJoin("fib", "Java RecursiveTask", count -> forkJoin.invoke(new Fib(20))),
            new Way("sleep", "Java ScheduledExecutorService", scheduled, Peer::sleepers));
    new Protocol(ways).serve();
    System.exit(0);
  }

  private static Way forkJoin(String shape, String name, Way.Run run) {
    return new Way(shape, name, forkJoin, run);
  }

  private static Way threads(String shape, String name, Way.Run run) {
    return new Way(shape, name, threads, run);
  }

  /** The work of an operation. The launcher keeps the virtual machine from inlining it. */
  private static long work(long seed, int steps) {
    long value = seed;
    for (int step = 0; step < steps; step++) {
      value = (value ^ (value >>> 29)) * 6364136223846793005L;
    }
    return value;
  }

  private static long sum(long[] numbers) {
    return Arrays.stream(numbers).sum();
  }

  /** An operation that stores its result in its slot. */
  private static final class Operation extends RecursiveAction {
    private final long[] slots;
    private final int slot;
    private final long seed;
    private final int steps;

    Operation(long[] slots, int slot, long seed, int steps) {
      this.slots = slots;
      this.slot = slot;
      this.seed = seed;
      this.steps = steps;
    }

    @Override
    protected void compute() {
      slots[slot] = work(seed, steps);
    }
  }

  private static long invokeAll(int count, int steps) {
    var slots = new long[count];
    forkJoin.invoke(action(() -> invokeOperations(slots, 0, count, steps)));
    return sum(slots);
  }

  private static void invokeOperations(long[] slots, int first, int count, int steps) {
    var operations = new Operation[count];
    for (int i = 0; i < count; i++) {
      operations[i] = new Operation(slots, first + i, first + i, steps);
    }
    ForkJoinTask.invokeAll(operations);
  }

  private static RecursiveAction action(Runnable body) {
    return new RecursiveAction() {
      @Override
      protected void compute() {
        body.run();
      }
    };
  }

  private static long allOf(int count, int steps) {
    var slots = new long[count];
    var futures = new CompletableFuture<?>[count];
    for (int i = 0; i < count; i++) {
      int index = i;
      futures[i] = CompletableFuture.runAsync(() -> slots[index] = work(index, steps), forkJoin);
    }
    CompletableFuture.allOf(futures).join();
    return sum(slots);
  }

  private static long threadPool(int count, int steps) throws Exception {
    var slots = new long[count];
    var operations = new ArrayList<Callable<Void>>(count);
    for (int i = 0; i < count; i++) {
      int index = i;
      operations.add(
          () -> {
            slots[index] = work(index, steps);
            return null;
          });
    }
    for (Future<Void> future : threads.invokeAll(operations)) {
      future.get();
    }
    return sum(slots);
  }

  private static long thenApplyAsync(int count) {
    var last = CompletableFuture.completedFuture(0L);
    for (int i = 0; i < count; i++) {
      int index = i;
      last = last.thenApplyAsync(total -> total + work(index, 0), forkJoin);
    }
    return last.join();
  }

  private static long nested(int count) {
    int side = (int) Math.sqrt(count);
    var slots = new long[side * side];
    var rows = new RecursiveAction[side];
    for (int row = 0; row < side; row++) {
      int first = row * side;
      rows[row] = action(() -> invokeOperations(slots, first, side, 0));
    }
    forkJoin.invoke(action(() -> ForkJoinTask.invokeAll(rows)));
    return sum(slots);
  }

  private static final class GroupsInTurn extends RecursiveTask<Long> {
    private final int size;
    private final int count;

    GroupsInTurn(int size, int count) {
      this.size = size;
      this.count = count;
    }

    @Override
    protected Long compute() {
      long total = 0;
      for (int first = 0; first + size <= count; first += size) {
        var results = new long[size];
        var operations = new Operation[size];
        for (int i = 0; i < size; i++) {
          operations[i] = new Operation(results, i, first + i, 0);
        }
        invokeAll(operations);
        total += sum(results);
      }
      return total;
    }
  }

  private static long groupsInTurn(int size, int count) {
    return forkJoin.invoke(new GroupsInTurn(size, count));
  }

  private static final class Fib extends RecursiveTask<Long> {
    private final int n;

    Fib(int n) {
      this.n = n;
    }

    @Override
    protected Long compute() {
      if (n < 2) {
        return (long) n;
      }
      var forked = new Fib(n - 1);
      forked.fork();
      long own = new Fib(n - 2).compute();
      return forked.join() + own;
    }
  }

  private static long sleepers(int count) throws Exception {
    var futures = new ArrayList<Future<Integer>>(count);
    for (int i = 0; i < count; i++) {
      int index = i;
      futures.add(scheduled.schedule(() -> index, 10, TimeUnit.MILLISECONDS));
    }
    long total = 0;
    for (Future<Integer> future : futures) {
      total += future.get();
    }
    return total;
  }
}
