import CommandLineOperations
import DurableOperations
import FlowFiles
import RunPage
import SystemSupport

/// `coop journal STORE list|show|cancel|retry|send|forget|check|copy|serve|init …`
struct JournalCommand {
  static let usage = """
    usage: coop journal STORE list [SELECTION] [--limit N] [--json]
           coop journal STORE show RUN [--json] [--live] [--timeline FILE] [--trace FILE]
           coop journal STORE cancel RUN [--because TEXT]
           coop journal STORE retry RUN [--from N]
           coop journal STORE cancel|retry|forget SELECTION [--confirm N]
           coop journal STORE send RUN EVENT JSON
           coop journal STORE forget RUN
           coop journal STORE forget --older-than AGE
           coop journal STORE check
           coop journal STORE copy FILE
           coop journal STORE serve [--address HOST:PORT] [--host NAME] [--read-only] [--token-file FILE]
                                    [--public-url URL] [--user-header NAME]
           coop journal STORE init

    Shows and controls durable runs, which survive the end of their process. STORE is the SQLite file that an existing
    journal is in, or the address of a PostgreSQL database, such as postgresql://flows@db/app. The programs that run its
    runs may use it at the same time.

    list      lists the runs, the newest first
    show      shows a run: its finished steps, and what the step in progress has stored
    cancel    cancels a run and its child flows; a running one ends within a second
    retry     resumes a run that is stuck, parked or has ended, from one of its steps
    send      sends an event to a run; it replaces one that no step has received
    forget    deletes a run that has ended, or all that ended before some time
    check     checks the store and its values; stuck runs count as problems
    copy      copies an SQLite file as it is now, with its log, into a new FILE
    serve     shows the runs on a page for the browser, and lets it control them, until Ctrl-C
    init      shows the commands that prepare a database, and what is missing in it; changes nothing

    SELECTION
      --state STATE     only runs in this state: ready, running, interrupted, parked, stuck, result, error or
                        cancelled; may be repeated. Without it, `cancel` is for the runs that have not ended, `retry`
                        for error and stuck, and `forget` for those that have ended
      --flow FLOW       only runs of this flow
      --text TEXT       only runs whose names contain the text
      --reason TEXT     only runs whose error or reason contains the text
      --since AGE       only runs that began within this time, such as 24h or 7d
      --confirm N       acts on the selected runs, if there are N of them. Without it, their number is printed, and
                        nothing is changed

    list
      --limit N         lists at most N runs

    show
      --live            shows the run once a second until it ends; Ctrl-C ends the view, not the run
    \(TraceOptions.usage)

    cancel
      --because TEXT    the reason, which stays with the run

    retry
      --from N          the first step to repeat (default: the last step if it failed, otherwise the step after it)

    forget
      --older-than AGE  a number and a unit: s, m, h, d or w, such as 7d

    serve
      --address HOST:PORT
                        where the page is (default: 127.0.0.1:8080); port 0 is any free one
      --host NAME       a name of this machine under which browsers may open the page, beside its host name and its
                        IP addresses; may be repeated
      --read-only       shows runs only
      --token-file FILE the token that the page asks for, the first line of FILE, which only its owner may read; needed
                        for an address that other machines can reach. Without it, the page answers only programs of
                        your user and of root; where the system does not name the user of a connection, the page
                        asks for a token that the printed link has
      --public-url URL  the address of a proxy in front of the page, such as https://runs.example, which sends the token
                        in the field Authorization, after `Bearer`
      --user-header NAME
                        the field in which the proxy names the user, such as X-Forwarded-User. Each action is a line
                        in the terminal and a row in the store: who, when, what

    list and show
      --json            prints each run as a JSON object on a line, with times in UTC

      --queue QUEUE     the queue in the database (default: default)
      --                ends the options

    Exit status: 0 success, 1 error, problem or missing part, 64 invalid arguments, 130 interrupted by Ctrl-C,
    143 by SIGTERM, 129 by SIGHUP.
    """

  private let arguments: JournalArguments
  private let output = StandardOutput()
  private let standardError = StandardError()

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    self.arguments = try JournalArguments(arguments)
  }

  /// - Returns: The exit status.
  func run() async -> Int32 {
    do {
      let place = arguments.place
      if !RunStore.isAddress(place), arguments.action != .`init` { try checkFile() }
      let store =
        if let file = FlowStateFile(place) { RunStore(FlowRunBackend(file)) } else {
          try StoreOptions.store(
            at: place, queue: arguments.queue ?? StoreOptions.defaultQueue, options: options)
        }
      let actions = JournalActions(arguments, store, output, standardError)
      do {
        let status = try await actions.perform()
        await store.close()
        return status
      } catch {
        await store.close()
        throw error
      }
    } catch {
      standardError.writeFailure("coop journal: \("\(error)".onOneLine)")
      return ExitStatus.failure
    }
  }

  /// Nil for the default settings. A person waits for the page.
  private var options: RunStoreOptions? {
    guard arguments.action == .serve, !RunStore.isAddress(arguments.place) else { return nil }
    var options = RunStoreOptions()
    options.busyTimeout = .seconds(5)
    return options
  }

  /// Checks that the file exists, because a store creates its file.
  private func checkFile() throws {
    let expected = "expected the SQLite file of a journal"
    let file = RawPath(arguments.place)
    let status: FileStatus
    do { status = try FileStatus(ofFile: arguments.place) } catch {
      throw JournalError("\(file): \(error); \(expected)")
    }
    if status.kind != .file { throw JournalError("\(file) is not a file; \(expected)") }
    if status.size == 0 { throw JournalError("\(file) is empty; \(expected)") }
  }
}

/// An error in the use of a journal.
struct JournalError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
