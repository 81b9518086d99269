extension ProcessOperation {
  /// The same with some variables set, or taken away, in the environment that it inherits.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let build = ProcessOperation("make").settingVariables(["LC_ALL": "C", "MAKEFLAGS": nil])
  /// ```
  ///
  /// - Parameter variables: Values by their names; nil for a variable that the program is not to have.
  public func settingVariables(_ variables: [String: String?]) -> ProcessOperation {
    changed { $0.environment.set(variables) }
  }

  /// The same with these variables and no others.
  ///
  /// The program is looked for in the `PATH` among them.
  ///
  /// - Parameter variables: Values by their names.
  public func replacingVariables(with variables: [String: String]) -> ProcessOperation {
    changed { $0.environment = .exact(variables) }
  }

  /// The same with another opinion of how a program ends well. By default that is the exit status 0.
  ///
  /// - Parameter isClean: Whether a status makes a result; if not, the run ends in a ``ProcessExitError``.
  public func accepting(
    _ isClean: @escaping @Sendable (ProcessStatus) -> Bool
  ) -> ProcessOperation {
    changed { $0.isClean = isClean }
  }

  /// The same with the exit statuses that make a result.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let comparison = ProcessOperation("diff", "a", "b").accepting(exitCodes: 0, 1)
  /// ```
  public func accepting(exitCodes: Int32...) -> ProcessOperation {
    accepting { status in exitCodes.contains { status == .exited($0) } }
  }

  /// The same with another time for the process group to end in when the run is cancelled. By default 2 seconds.
  ///
  /// - Parameter grace: How long the group has between SIGTERM and SIGKILL, by the clock of the machine. Nothing
  ///   for SIGKILL at once.
  /// - Precondition: It is not negative.
  public func ending(within grace: Duration) -> ProcessOperation {
    precondition(grace >= .zero, "`grace` must not be negative (was \(grace))")
    return changed { $0.grace = grace }
  }

  /// The same with another time for the output to end in after the program has. By default 100 milliseconds.
  ///
  /// It matters where a program leaves others behind that write to its output. What they write later is lost, and
  /// ``ProcessOutput/isComplete`` says so. Nobody ends them, but whoever writes to an output that is not read any more
  /// gets SIGPIPE, by which most programs end; a service is better given an output of its own, such as a file.
  ///
  /// - Parameter time: How long is waited, by the clock of the machine.
  /// - Precondition: It is not negative.
  public func draining(for time: Duration) -> ProcessOperation {
    precondition(time >= .zero, "`time` must not be negative (was \(time))")
    return changed { $0.drainTime = time }
  }

  /// The same with something to be done as soon as the program has been started.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let encode = ProcessOperation("ffmpeg", "-i", "in.mov", "out.mp4")
  ///   .onLaunch { process in print("runs as \(process.processIdentifier)") }
  /// ```
  ///
  /// - Parameter body: Gets what sends signals to the process, which may be kept. It is called in the run's task,
  ///   before any line is handed over.
  public func onLaunch(_ body: @escaping @Sendable (RunningProcess) -> Void) -> ProcessOperation {
    changed { $0.launchHook = body }
  }
}
