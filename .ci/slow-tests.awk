# Reads the events of a test run (Swift Testing, version 0) and prints the ten tests that ran longest. WIDTH is the
# number of tests that run at once.
#
# A test counts as started before it has a place among those that run, and most wait for almost the whole run. The
# start of a test case with arguments is an event. The others get the remaining places in the order of their requests,
# so their times are exact up to the duration of the tests beside them.

function value(key,    start, rest) {
  start = index($0, "\"" key "\":")
  if (start == 0) return ""
  rest = substr($0, start + length(key) + 3)
  if (substr(rest, 1, 1) == "\"") {
    match(rest, /^"([^"\\]|\\.)*"/)
    rest = substr(rest, 2, RLENGTH - 2)
    gsub(/\\\//, "/", rest)
    gsub(/\\"/, "\"", rest)
    return rest
  }
  match(rest, /^[-0-9.e+]+/)
  return substr(rest, 1, RLENGTH)
}

BEGIN { if (WIDTH < 1) WIDTH = 1 }
/"kind":"runStarted"/ { while (freeCount < WIDTH) free[++freeCount] = value("absolute") }
!/"kind":"test(Case)?(Started|Ended)"/ { next }

{
  test = value("testID")
  time = value("absolute")
}

# A case with arguments: it takes the place that has become free last.
/"kind":"testCaseStarted"/ {
  if (freeCount > 0) freeCount--
  began[test "\t" value("id")] = time
  next
}

/"kind":"testCaseEnded"/ {
  free[++freeCount] = time
  seconds[test] += time - began[test "\t" value("id")]
  next
}

# Not suites and tests with arguments.
test !~ /\(\)\/[^\/]*\.swift:[0-9:]+$/ { next }
/"kind":"testStarted"/ { waiting[++waitingCount] = test; requested[test] = time }
/"kind":"testEnded"/ { free[++freeCount] = time; ended[test] = time }

END {
  for (count = 1; count <= waitingCount; count++) {
    test = waiting[count]
    start = count <= freeCount && free[count] > requested[test] ? free[count] : requested[test]
    if (ended[test] > start) seconds[test] = ended[test] - start
  }
  print "\nSECONDS  SLOWEST TESTS (own time, beside others)"
  for (count = 0; count < 10; count++) {
    longest = ""
    for (test in seconds) if (longest == "" || seconds[test] > seconds[longest]) longest = test
    if (longest == "") break
    name = longest
    # Without the position in the file.
    sub(/\/[^\/]*\.swift:[0-9:]+$/, "", name)
    gsub(/`/, "", name)
    if (length(name) > 110) name = substr(name, 1, 109) "…"
    printf "%7.1f  %s\n", seconds[longest], name
    delete seconds[longest]
  }
}
