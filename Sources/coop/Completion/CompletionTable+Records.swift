extension CompletionTable {
  static let records = CompletionNode(
    "records", "queries a database, imports and exports rows, and mirrors it",
    actions: [
      CompletionNode(
        "tables", "lists the tables and views", positions: [.file],
        options: [immutable, schema] + common),
      CompletionNode(
        "query", "prints rows", positions: [.file, .text],
        options: rows + [immutable, schema] + common),
      CompletionNode(
        "export", "writes rows to a file", positions: [.file, .text],
        options: rows + format + [
          CompletionOption("--to", "the output file", .file),
          CompletionOption("--crlf", "ends CSV lines as Windows does"),
          CompletionOption(
            "--guard-formulas", "keeps spreadsheets from running text as formulas"), immutable,
          schema,
        ] + common),
      CompletionNode(
        "import", "inserts rows of a file", positions: [.file, .text, .file],
        options: format + [
          CompletionOption("--create", "creates the file, table and columns if missing"), schema,
          CompletionOption(
            "--existing", "how to handle a row whose key exists",
            .words(["refuse", "update", "keep"])),
          CompletionOption("--skip", "the number of bad rows to skip", .text),
          CompletionOption("--rows-per-transaction", "commits after this number of rows", .text),
          CompletionOption("--references", "COLUMN=TABLE that the column refers to", .text),
          CompletionOption("--empty-as-text", "imports an empty cell as an empty text"),
        ] + common),
      mirror,
    ],
    options: [help])

  private static let mirror = CompletionNode(
    "mirror", "keeps the rows of two databases in step", positions: [.file, .file, .text],
    repeatsLastPosition: true,
    options: [
      CompletionOption("--once", "runs one round and ends"),
      CompletionOption(
        "--conflicts", "the value of a field that both sides have changed",
        .words(["remote", "local", "newest"])),
      CompletionOption(
        "--deletions", "whether a deletion loses against an edit", .words(["lose", "win"])),
      CompletionOption(
        "--other-database", "how to continue with another remote database",
        .words(["stop", "merge", "replace"])),
      CompletionOption("--timeout", "how many seconds a request waits for the server", .text),
      CompletionOption("--interval", "the maximum seconds between rounds", .text),
      CompletionOption("--name", "the name of the mirror", .text), schema,
    ] + common)

  private static let rows = [
    CompletionOption("--where", "selects rows, such as 'pages > 500'", .text),
    CompletionOption("--sort", "sorts by COLUMN, or descending by -COLUMN", .text),
    CompletionOption("--columns", "selects columns, separated by commas", .text),
    CompletionOption("--limit", "the maximum number of rows", .text),
  ]

  private static let format = [
    CompletionOption("--format", "the format of the rows", .words(["csv", "json", "jsonl"])),
    CompletionOption("--delimiter", "the delimiter of CSV", .words([",", ";", "tab"])),
    CompletionOption("--no-header", "CSV without a line of column names"),
  ]

  private static let immutable = CompletionOption("--immutable", "opens the file as immutable")

  private static let schema = CompletionOption(
    "--schema", "the schema of a PostgreSQL database", .text)

  private static let common =
    [
      json,
      CompletionOption("--trust-schema", "lets views, checks and triggers use all functions"),
    ] + observation + [help]
}
