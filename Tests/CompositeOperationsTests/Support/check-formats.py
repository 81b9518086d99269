"""Reads the exports of the library with the official parsers of their formats.

usage: check-formats.py modules|otlp|prometheus [FILE]

otlp reads lines of OTLP/JSON and prints the name and the status of every span. prometheus reads the text format
and prints every sample. Both fail at the first error.
"""

import base64
import json
import re
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families


def in_base64(span, key, count):
    """OTLP/JSON encodes identities in hexadecimal digits, the general JSON mapping of protobuf in base64."""
    text = span[key]
    if not re.fullmatch("[0-9a-f]{%d}" % (2 * count), text) or set(text) == {"0"}:
        raise SystemExit(f"{key} is not {count} bytes in hexadecimal digits, not all zero: {text!r}")
    span[key] = base64.b64encode(bytes.fromhex(text)).decode()


def check_spelling(span):
    """Checks values that json_format reads in more spellings than the specification of OTLP allows."""
    for key in "startTimeUnixNano", "endTimeUnixNano":
        if not (isinstance(span[key], str) and span[key].isdecimal()):
            raise SystemExit(f"{key} is not a decimal string: {span[key]!r}")
    for value in span["kind"], span.get("status", {}).get("code", 0):
        if not isinstance(value, int):
            raise SystemExit(f"enumeration is not a number: {value!r}")


def check_otlp(lines):
    for line in lines:
        request = json.loads(line)
        for resource in request["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    check_spelling(span)
                    in_base64(span, "traceId", 16)
                    in_base64(span, "spanId", 8)
                    if "parentSpanId" in span:
                        in_base64(span, "parentSpanId", 8)
        parsed = json_format.Parse(
            json.dumps(request), ExportTraceServiceRequest(), ignore_unknown_fields=False)
        for resource in parsed.resource_spans:
            if [a.key for a in resource.resource.attributes] != ["service.name"]:
                raise SystemExit(f"unexpected resource: {resource.resource}")
            for scope in resource.scope_spans:
                for span in scope.spans:
                    if not 0 < span.start_time_unix_nano <= span.end_time_unix_nano:
                        raise SystemExit(f"times are out of order: {span}")
                    print(json.dumps([span.name, span.status.code, span.status.message]))


def check_prometheus(text):
    for family in text_string_to_metric_families(text):
        if family.type not in ("counter", "gauge", "histogram") or not family.documentation:
            raise SystemExit(f"family has no type or no description: {family}")
        for sample in family.samples:
            print(json.dumps([sample.name, sample.labels, sample.value]))


def main(what, file=None):
    if what == "modules":
        return
    with open(file, encoding="utf-8", newline="\n") as opened:
        check_otlp(opened) if what == "otlp" else check_prometheus(opened.read())


main(*sys.argv[1:])
