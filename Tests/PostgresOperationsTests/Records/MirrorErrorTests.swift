import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import TestSupport
import Testing

/// The effects of errors of a PostgreSQL server on a mirror.
@Suite(.enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct MirrorErrorTests {
  // Open transactions of other tests would delay the changes.
  private static let server = PrivateServer(settings: ["autovacuum=off"])

  @Test func `M8: each SQLSTATE has the effect on a round that the article names`() async throws {
    let schema = try await RecordSchema(on: Self.server)
    try await schema.create(
      """
      create table "Book" (id text primary key, title text); create table raised (code text);
      insert into "Book" values ('bad', 'a'), ('good', 'a');
      create function fail() returns trigger language plpgsql set search_path = "\(schema.name)" as $$
      begin
        if new.id = 'bad' and exists (select from raised) then
          raise exception 'raised' using errcode = (select code from raised);
        end if;
        return new;
      end $$;
      create trigger fail before update on "Book" for each row execute function fail()
      """)
    try await schema.database().keepChanges(of: ["Book"])
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    let mirror = RecordMirror(
      of: ["Book"], in: local, with: schema.database(),
      retries: RetryPolicy(attempts: 2, backoff: .none))
    _ = try await mirror.sync.run().get()
    let errors = try MirrorErrorTable.errors(in: .sqlState)
    #expect(errors.count > 20)
    for (error, effect) in errors {
      // The article names a class by its first two characters.
      let code = error.replacing("xxx", with: "999")
      try await schema.query("truncate raised; insert into raised values ('\(code)')")
      for name in ["bad", "good"] {
        try await local.save(record("Book", name, ["title": .string(code)]), policy: .changedKeys)
      }
      let outcome = await mirror.sync.run()
      switch outcome {
      case .result(let report):
        #expect(effect == .record && report.rejected == 1 && report.sent == 1, "\(error)")
      case .error(let failure as RecordError):
        let isExpected = failure.isRetriable ? effect == .round : effect.isPermanent
        #expect(isExpected, "\(error): \(failure)")
        #expect("\(failure)".contains("raised"))
      case .error, .cancelled: Issue.record("\(error): \(outcome)")
      }
      // The edits are sent after the cause has disappeared.
      try await schema.query("truncate raised")
      _ = try await mirror.sync.run().get()
      let titles = try await schema.query("select string_agg(title, ' ') from \"Book\"")
      #expect(titles == "\(code) \(code)")
    }
  }
}
