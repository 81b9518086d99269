package import SQLiteSupport

extension SQLiteError {
  /// The error for callers of the database: a ``RecordError``, or a `CancellationError` after an
  /// interruption.
  package var translated: any Error {
    switch kind {
    case .interrupted: CancellationError()
    case .busy: RecordError(.unavailable(description))
    case .diskFull, .inputOutput, .corrupt, .notADatabase, .fileNotFound, .cannotOpen,
      .foreignFile, .outOfMemory:
      RecordError(.storage(description))
    case .readOnlyFolder, .notPermitted, .untrustedSchema: RecordError(.notPermitted(description))
    case .newerSchema, .unsupportedLibrary: RecordError(.unsupported(description))
    case .constraint, .tooLarge, .typeMismatch, .invalidName, .invalidStatement, .other:
      RecordError(.invalid(description))
    }
  }
}
