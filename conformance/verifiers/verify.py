"""A verifier in Python, written from README.md alone.

node conformance/run.mjs --stdio -- python3 conformance/verifiers/verify.py
"""

import base64
import binascii
import datetime
import hashlib
import hmac
import json
import math
import re
import sys


class Rejected(Exception):
    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


def verify(body, headers, secrets, now, tolerance_seconds, scheme):
    if not tolerance_seconds > 0 or "{body}" not in scheme["content"]:
        raise Rejected("config")
    keys = [key_of(secret, scheme["secretEncoding"]) for secret in secrets]
    signature_header = only(headers, scheme["signatureHeader"])
    timestamp = only(headers, scheme["timestampHeader"])
    sent_at = seconds_of(timestamp, scheme["timestamp"])
    signatures = signatures_of(signature_header, scheme)
    before, after = (
        text.replace("{timestamp}", timestamp).encode() for text in scheme["content"].split("{body}")
    )
    signed = before + body + after
    macs = [hmac.new(key, signed, scheme["algorithm"]).digest() for key in keys]
    if not any(hmac.compare_digest(mac, each) for mac in macs for each in signatures):
        raise Rejected("verification")
    if abs(now - sent_at) > tolerance_seconds:
        raise Rejected("verification")
    return event_of(body)


def key_of(secret, encoding):
    if secret.strip() != secret or secret in ("", "null", "undefined"):
        raise Rejected("config")
    if encoding == "utf8":
        return secret.encode()
    key = decode(secret, encoding)
    if key is None:
        raise Rejected("config")
    return key


def only(headers, name):
    values = [value for each, value in headers if each.lower() == name]
    if len(values) != 1 or len(values[0]) > 4096:
        raise Rejected("verification")
    return values[0]


def seconds_of(text, unit):
    if unit == "iso8601":
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})", text):
            raise Rejected("verification")
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    if not re.fullmatch(r"[1-9][0-9]{0,13}", text):
        raise Rejected("verification")
    return int(text) / 1000 if int(text) >= 10**11 else int(text)


def signatures_of(header, scheme):
    separator = scheme.get("separator")
    found = []
    for item in header.split(separator) if separator else [header]:
        if not item.startswith(scheme["prefix"]):
            raise Rejected("verification")
        signature = decode(item[len(scheme["prefix"]) :], scheme["encoding"])
        if signature is None or len(signature) != hashlib.new(scheme["algorithm"]).digest_size:
            raise Rejected("verification")
        found.append(signature)
    return found


def decode(text, encoding):
    """The bytes, or None unless the text is their one spelling."""
    if encoding == "hex":
        return bytes.fromhex(text) if re.fullmatch(r"([0-9a-fA-F]{2})+", text) else None
    is_url = encoding == "base64url"
    to_bytes, to_text = (
        (base64.urlsafe_b64decode, base64.urlsafe_b64encode) if is_url else (base64.b64decode, base64.b64encode)
    )
    try:
        found = to_bytes(text + "=" * (-len(text) % 4) if is_url else text)
    except (binascii.Error, ValueError):
        return None
    again = to_text(found).decode()
    return found if text == (again.rstrip("=") if is_url else again) else None


def event_of(body):
    try:
        event = json.loads(body.decode("utf-8-sig"))
        kind, data = event["type"], event["data"]
        is_text = isinstance(kind, str)
        if is_text and (kind != "order.paid" or (text(data["order_id"]) and is_money(data["amount"]))):
            return event
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise Rejected("payload")


def text(value):
    return isinstance(value, str) and value != ""


def is_money(amount):
    if isinstance(amount, str):
        return re.fullmatch(r"[0-9]+(\.[0-9]+)?", amount) is not None
    return isinstance(amount, (int, float)) and not isinstance(amount, bool) and math.isfinite(amount)


def answer_questions():
    for line in sys.stdin.buffer:  # UTF-8 on every system
        question = json.loads(line)
        outcome = {"id": question["id"]}
        try:
            outcome["event"] = verify(
                base64.b64decode(question["body"]),
                question["headers"],
                question["secrets"],
                question["now"],
                question["toleranceSeconds"],
                question["scheme"],
            )
            outcome["result"] = "accepted"
        except Rejected as error:
            outcome.update(result="rejected", kind=error.kind)
        except Exception as error:  # whatever else is a fault of the verifier
            outcome.update(result="crashed", note=repr(error))
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    answer_questions()
