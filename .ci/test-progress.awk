# Reduces the output of `swift test` to phases, counts, failures and summaries.

BEGIN { step = 200 }

function show(line) { print line; fflush() }

/^Building for|^Build complete/ { show($0); next }
/^\/.*:[0-9]+:([0-9]+:)? (error|warning): |^[a-z-]*:? ?(fatal )?error: / { show($0); isDetail = 3; next }
# The lines below an issue explain it.
/^✘ (Test .* recorded|Suite|Test case)/ { show($0); isDetail = 3; next }
/^[^ ]+ Test run with/ { show($0); next }
/^[ \t]*Executed [1-9][0-9]* tests?/ {
  # XCTest says it for the suite, the bundle and the whole.
  sub(/^[ \t]*/, "")
  if ($0 != executed) show($0)
  executed = $0
  next
}
/Fatal error|unexpected signal/ { show($0); next }
/^↳|^  *↳/ { if (isDetail > 0) show($0); next }
/^✔ Test (".*"|[^ ]*\(.*\)) (with [0-9]+ test cases )?passed after/ {
  isDetail = 0
  if (++ended % step == 0) show(ended " tests have passed")
  next
}
/^(✔|◇|➜)/ { isDetail = 0; next }
isDetail > 0 { isDetail--; show($0) }
