# Lists the tests that the output of `swift test` shows as started and not as ended.

function name(line) {
  sub(/^[^ ]* Test /, "", line)
  sub(/ (started|(with [0-9]+ test cases? )?(passed|failed|was cancelled) after|skipped).*$/, "", line)
  return line
}

/^[^ ]* Test (case|run) / || / recorded an? (known )?issue/ { next }
/^◇ Test .* started\.$/ { open[name($0)] = 1; next }
/^(✔|✘|➜) Test / { delete open[name($0)] }
END { for (test in open) print "  " test }
