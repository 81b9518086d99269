// The C library, threads and clocks, for this module and those that import it.
@_exported public import ThreadSupport
