import Foundation

/// A program in its own process group, with pipes for its input and output.
///
/// It is stopped while it has no request, so that its threads and its garbage collector do not
/// affect other measurements. If this process ends for any reason, the system sends SIGHUP to a
/// stopped group, and its input ends. `Interruptions` kills a program that ignores this.
struct ChildProcess {
  let id: pid_t
  var channel: LineChannel

  init(path: String, arguments: [String] = [], environment: [String: String]) throws {
    let toChild = try Self.makePipe()
    let fromChild = try Self.makePipe()
    defer {
      close(toChild.reader)
      close(fromChild.writer)
    }
    channel = LineChannel(input: fromChild.reader, output: toChild.writer)

    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, toChild.reader, 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild.writer, 1)
    var defaults = sigset_t()
    sigemptyset(&defaults)
    for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&defaults, signal) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))

    var words = ([path] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var id: pid_t = 0
    let status = posix_spawn(&id, path, &actions, &attributes, &words, &variables)
    guard status == 0 else {
      channel.close()
      throw BenchmarkError("cannot be started: \(String(cString: strerror(status)))")
    }
    self.id = id
    Interruptions.add(id)
  }

  func kill() { Foundation.kill(-id, SIGKILL) }
  func stop() { Foundation.kill(-id, SIGSTOP) }
  func resume() { Foundation.kill(-id, SIGCONT) }

  /// Ends the process by closing its input, or by SIGKILL if it does not exit within a second.
  ///
  /// - Returns: How it ended.
  @discardableResult func end() -> String {
    channel.close()
    resume()
    defer { Interruptions.remove(id) }
    var status: Int32 = 0
    for _ in 0..<100 {
      if waitpid(id, &status, WNOHANG) != 0 { return Self.describe(status) }
      usleep(10_000)
    }
    kill()
    waitpid(id, &status, 0)
    return Self.describe(status)
  }

  private static func describe(_ status: Int32) -> String {
    let signal = status & 0x7F
    return signal == 0 ? "exit status \(status >> 8 & 0xFF)" : "signal \(signal)"
  }

  private struct Pipe {
    let reader: Int32
    let writer: Int32
  }

  /// Creates a pipe that other children do not inherit.
  private static func makePipe() throws -> Pipe {
    var descriptors: [Int32] = [0, 0]
    guard pipe(&descriptors) == 0 else {
      throw BenchmarkError("cannot create a pipe: \(String(cString: strerror(errno)))")
    }
    for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return Pipe(reader: descriptors[0], writer: descriptors[1])
  }
}
