extension ProcessOperation {
  /// Returns a copy with some variables set or removed in the inherited environment.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let build = ProcessOperation("make").settingVariables(["LC_ALL": "C", "MAKEFLAGS": nil])
  /// ```
  ///
  /// - Parameter variables: The values by name; nil removes a variable.
  public func settingVariables(_ variables: [String: String?]) -> ProcessOperation {
    configured { $0.environment.set(variables) }
  }

  /// Returns a copy with these environment variables and no others.
  ///
  /// The program is searched for in the `PATH` of these variables.
  ///
  /// - Parameter variables: The values by name.
  public func replacingVariables(with variables: [String: String]) -> ProcessOperation {
    configured { $0.environment = .exact(variables) }
  }

  /// Returns a copy with another predicate for success. By default, only the exit status 0 is a
  /// success.
  ///
  /// - Parameter isSuccess: Returns whether a status is a success. Otherwise the run fails with a
  ///   ``ProcessExitError``.
  public func accepting(
    _ isSuccess: @escaping @Sendable (ProcessStatus) -> Bool
  ) -> ProcessOperation {
    configured { $0.isSuccess = isSuccess }
  }

  /// Returns a copy for which these exit statuses are a success.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let comparison = ProcessOperation("diff", "a", "b").accepting(exitCodes: 0, 1)
  /// ```
  ///
  /// - Parameter exitCodes: The exit statuses.
  public func accepting(exitCodes: Int32...) -> ProcessOperation {
    accepting { status in exitCodes.contains { status == .exited($0) } }
  }

  /// Returns a copy with another grace period for a cancelled run. By default, it is 2 seconds.
  ///
  /// - Parameter grace: The time between SIGTERM and SIGKILL. It is measured by a
  ///   `SuspendingClock`, even if the environment has another clock. With zero, SIGKILL is sent at
  ///   once.
  /// - Precondition: `grace` is not negative.
  public func ending(within grace: Duration) -> ProcessOperation {
    precondition(grace >= .zero, "`grace` must not be negative (was \(grace))")
    return configured { $0.gracePeriod = grace }
  }

  /// Returns a copy with a time limit for output that stays open after the program has ended, and
  /// for which output that is still open then is no error.
  ///
  /// The limit matters if other processes that the program started hold its output open. By
  /// default, the run waits for 5 seconds, and then fails with a ``ProcessOutputError``, because
  /// they may write more. With this modifier, the run has its result after the time limit:
  /// ``ProcessOutput/isComplete`` is false, and their later output is lost.
  ///
  /// In both cases, the run does not end these processes, but when they write to the output that is
  /// no longer read, they receive SIGPIPE, which ends most programs. If a program starts a
  /// background process, it should redirect the output of that process, for example to a file.
  ///
  /// - Parameter time: The time limit, measured by a `SuspendingClock`, even if the environment has
  ///   another clock. The time in which a closure handles earlier output, and nothing is read, does not
  ///   count.
  /// - Precondition: `time` is not negative.
  public func draining(for time: Duration) -> ProcessOperation {
    precondition(time >= .zero, "`time` must not be negative (was \(time))")
    return configured {
      $0.drainTime = time
      $0.acceptsOpenOutput = true
    }
  }

  /// Returns a copy that calls a closure as soon as the program has been started.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let encode = ProcessOperation("ffmpeg", "-i", "in.mov", "out.mp4")
  ///   .onLaunch { process in print("runs as \(process.processIdentifier)") }
  /// ```
  ///
  /// - Parameter body: Receives a handle for sending signals, which may be kept. It is called in
  ///   the task of the run, before any line is delivered.
  public func onLaunch(_ body: @escaping @Sendable (RunningProcess) -> Void) -> ProcessOperation {
    configured { $0.onLaunch = body }
  }

  /// Returns a copy that runs in another place. By default, the program leads a new process group.
  package func running(in place: ProcessPlace) -> ProcessOperation {
    configured { $0.place = place }
  }
}
