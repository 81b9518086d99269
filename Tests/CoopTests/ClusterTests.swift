import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled { try await WithServer.isPossible() })
struct ClusterTests {
  @Test func `init shows what is missing, with commands that prepare the database`() async throws {
    let printed = try await WithServer.shell(
      """
      address=${2/postgres@/postgres:s3cret@}
      "$1" journal "$2" init; echo "status $?"
      "$1" journal "$address" init --queue jobs; echo "status $?"
      psql -q "$2" -c 'create database empty'
      "$1" journal "${2/@\\/postgres/@\\/empty}" init; echo "status $?"
      "$1" journal "$2" check 2>&1; echo "status $?"
      "$1" journal "$2" list --queue jobs 2>&1; echo "status $?"
      """
    ).run()
    #expect(printed.error == "")
    let folder = try #require(printed.text.split(separator: "?host=").dropFirst().first)
      .prefix { $0 != "," }
    let address = "postgresql://postgres@/postgres?host=\(folder)"
    let empty = "postgresql://postgres@/empty?host=\(folder)"
    #expect(
      printed.text == """
        \(address), queue 'default'
          schema  Absurd 0.5.1
          queue   'default'

        Done:
          absurdctl init -d '\(address)'
          absurdctl create-queue -d '\(address)' default
        status 0
        postgresql://postgres:***@/postgres?host=\(folder), queue 'jobs'
          schema  Absurd 0.5.1
          queue   missing: there is no queue 'jobs'

        To do:
          absurdctl create-queue -d '\(address)' jobs

        Done:
          absurdctl init -d '\(address)'

        `python3 -m pip install absurdctl` installs the program, which also needs psql.
        The address is shown without its password; set PGPASSWORD, or use ~/.pgpass.
        status 1
        \(empty), queue 'default'
          schema  missing: Absurd is not installed
          queue   missing: there is no queue 'default'

        To do:
          absurdctl init -d '\(empty)'
          absurdctl create-queue -d '\(empty)' default

        `python3 -m pip install absurdctl` installs the program, which also needs psql.
        status 1
        coop journal: \(address), queue 'default' has no problems (schema: Absurd 0.5.1)
        status 0
        coop journal: queue: \(address) has no queue 'jobs'; create it with `absurdctl create-queue \
        -d DATABASE jobs`, or choose another one
        status 1

        """)
  }

  @Test func `a flow survives the end of two of its three workers`() async throws {
    let printed = try await WithServer.shell(
      #"""
      "$1" cluster-demo "$2" --children 30; echo "status $?"
      run=$("$1" journal "$2" list --flow ClusterSum --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
      echo "runs $("$1" journal "$2" list | wc -l)"
      "$1" journal "$2" show "$run-7"
      "$1" journal "$2" show "$run-7" --json
      """#
    ).run()
    #expect(printed.error.contains("killed workers 1 and 2 with SIGKILL"), "\(printed.error)")
    let lines = printed.text.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasPrefix("sum of 30 child flows: ") == true)
    #expect(lines.first?.hasSuffix(" in one process: equal") == true)
    #expect(lines.contains { $0.hasPrefix("  worker 2  ") && $0.hasSuffix("  killed") })
    let repeated = try #require(lines.first { $0.hasPrefix("steps that began twice: ") })
    #expect(!repeated.contains("not in progress"))
    #expect(lines.contains("status 0"), "\(printed.text)\n\(printed.error)")
    // With the head of the table, and the parent.
    #expect(lines.contains("runs 32"))
    let step = try #require(lines.first { $0.hasPrefix("  2  work 2  result  ") })
    let worker = try #require(step.split(separator: " ").first { $0.contains("/") })
    #expect(lines.last?.contains(#","worker":"\#(worker)""#) == true)
  }

  @Test(.enabled(if: PageFixture.isPossible && Program.installed("curl") != nil))
  func `A8: the page shows how the runs of killed workers are taken over`() async throws {
    let printed = try await WithServer.shell(
      #"""
      folder=$(mktemp -d)
      "$1" journal "$2" serve --address 127.0.0.1:0 > "$folder/page" & page=$!
      until [ -s "$folder/page" ]; do :; done
      url=$(cut -d ' ' -f 1 "$folder/page")
      "$1" cluster-demo "$2" --children 30 > "$folder/demo" 2> "$folder/error" & demo=$!
      while kill -0 $demo 2> /dev/null; do
        curl -s -H 'Accept: application/json' "$url?flow=ClusterPart&state=running" >> "$folder/lists"
      done
      wait $demo; echo "status $?"
      grep -c "^to see them in a browser: .*coop journal '$2' serve$" "$folder/error"
      killed=$(sed -n 's/^  worker [12]  \([^ ]*\) .*/\1/p' "$folder/demo")
      # A run that one of them had, and that another worker has finished.
      for worker in $killed; do
        grep -o '"id":"[^"]*"[^}]*"worker":"'"$worker"'"' "$folder/lists"
      done | cut -d '"' -f 4 | sort -u > "$folder/runs"
      while read -r run; do
        worker=$(curl -s "${url}run?id=$run" | sed -n 's/.*<dt>Worker<.dt><dd>\([^<]*\)<.*/\1/p')
        [[ -n $worker && $killed != *"$worker"* ]] && echo "taken over"
      done < "$folder/runs" | sort -u
      kill -TERM $page; wait $page; echo "status $?"
      rm -r "$folder"
      """#
    ).run()
    #expect(printed.text == "status 0\n1\ntaken over\nstatus 143\n", "\(printed.error)")
  }

  @Test(.enabled(if: PageFixture.isPossible && Program.installed("curl") != nil))
  func `A8: the page of a database that cannot be reached says so, and works again after that`()
    async throws
  {
    let printed = try await WithServer.shell(
      #"""
      socket=${2##*host=}/.s.PGSQL.5432
      output=$(mktemp)
      "$1" journal "$2" serve --address 127.0.0.1:0 > "$output" & page=$!
      until [ -s "$output" ]; do :; done
      url=$(cut -d ' ' -f 1 "$output")
      get() { curl -s -w '%{http_code}\n' -H 'Accept: application/json' "$url$1"; }
      get | tail -n 1
      # No connection is left, and none can be made.
      psql -q "$2" -o /dev/null << SQL
      \! mv "$socket" "$socket.moved"
      select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid();
      SQL
      get | sed 's/^{"error":"\(cannot connect to\) .*/\1/'
      get 'run?id=r' | tail -n 1
      mv "$socket.moved" "$socket"
      get | tail -n 1
      kill -TERM $page; wait $page; echo "status $?"
      rm "$output"
      """#
    ).run()
    let lines = ["200", "cannot connect to", "503", "503", "200", "status 143", ""]
    #expect(printed.text == lines.joined(separator: "\n"), "\(printed.error)")
  }

  @Test func `a worker that a signal ends releases its runs`() async throws {
    // With the lease of 30 seconds, another worker would not get them before.
    let printed = try await WithServer.shell(
      #"""
      "$1" cluster-demo "$2" --children 40 --lease 60 > /dev/null 2>&1 & demo=$!
      until "$1" journal "$2" list --state result | grep -q ClusterPart; do :; done
      kill -TERM $demo; wait $demo; echo "status $?"
      "$1" journal "$2" list --state running
      "$1" journal "$2" list --flow ClusterSum | grep -o cancelled
      """#
    ).run()
    #expect(printed.text == "status 143\nno runs\ncancelled\n", "\(printed.error)")
  }
}
