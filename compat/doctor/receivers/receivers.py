"""Receivers as developers write them in Python, one a path. `python3 receivers.py` prints its port."""

import datetime
import hashlib
import hmac
import json
import os
import sys
import time
from wsgiref.simple_server import WSGIRequestHandler, make_server

SECRET = os.environ["WEBHOOK_SECRET"]
OK = ("200 OK", "text/html; charset=utf-8", "ok")  # what Flask makes of `return "ok"`
JSON = "application/json"
BAD = ("400 Bad Request", "text/html; charset=utf-8", "Bad signature")
seen = set()


def mac(*parts, secret=SECRET):
    return hmac.new(secret.encode(), b"".join(parts), hashlib.sha256).hexdigest()


def fresh(timestamp, tolerance=300):
    return abs(time.time() - int(timestamp)) <= tolerance


def right(body, signature, timestamp):
    if not signature or not timestamp.isdigit():
        return BAD
    if not hmac.compare_digest(mac(timestamp.encode(), b".", body).encode(), signature.encode()):
        return BAD
    return OK if fresh(timestamp) else BAD


def abort(body, signature, timestamp):
    # An exception becomes the framework's page.
    if right(body, signature, timestamp) is not OK:
        raise PermissionError("signature mismatch")
    return ("201 Created", JSON, json.dumps({"status": "received", "at": time.time()}))


def idempotent(body, signature, timestamp):
    order = json.loads(body)["data"]["order_id"]
    if order in seen:
        return ("200 OK", JSON, '{"status": "duplicate"}')
    if right(body, signature, timestamp) is not OK:
        return ("401 Unauthorized", JSON, '{"detail": "Invalid signature"}')
    seen.add(order)
    return ("200 OK", JSON, json.dumps({"status": "processed", "order": order}))


def polite(body, signature, timestamp):
    good = right(body, signature, timestamp) is OK
    return ("200 OK", JSON, json.dumps({"ok": good, "error": None if good else "bad signature"}))


def never(body, signature, timestamp):
    json.loads(body)
    return OK


def only_logs(body, signature, timestamp):
    order = json.loads(body)["data"]["order_id"]
    note = "" if right(body, signature, timestamp) is OK else " "
    return ("200 OK", "text/plain", f"thanks for {order}{note}")


def truthy(body, signature, timestamp):
    if signature and right(body, signature, timestamp) is not OK:
        return BAD
    return OK


def starts(body, signature, timestamp):
    good = mac(timestamp.encode(), b".", body).startswith(signature) and fresh(timestamp or "0")
    return OK if signature and good else BAD


def zipped(body, signature, timestamp):
    pairs = zip(mac(timestamp.encode(), b".", body), signature)
    return OK if all(a == b for a, b in pairs) and fresh(timestamp or "0") else BAD


def dumps(body, signature, timestamp):
    again = json.dumps(json.loads(body)).encode()
    return OK if signature == mac(timestamp.encode(), b".", again) and fresh(timestamp) else BAD


def utcnow(body, signature, timestamp):
    now = datetime.datetime.utcnow().timestamp()
    if not timestamp or abs(now - int(timestamp)) > 300:
        return ("400 Bad Request", JSON, '{"error": "Bad Request"}')
    return OK if signature == mac(timestamp.encode(), b".", body) else BAD


def bytes_and_text(body, signature, timestamp):
    hmac.new(SECRET, timestamp + "." + body, hashlib.sha256)
    return OK


def no_env(body, signature, timestamp):
    os.environ["PAYMENT_WEBHOOK_SECRET"]
    return OK


def past_only(body, signature, timestamp):
    good = signature == mac(timestamp.encode(), b".", body)
    return OK if good and time.time() - int(timestamp) < 300 else BAD


def validates(body, signature, timestamp):
    if right(body, signature, timestamp) is not OK:
        return BAD
    return ("422 Unprocessable Entity", JSON, '{"detail": [{"loc": ["customer"], "msg": "field required"}]}')


def other_name(body, signature, timestamp):
    return ("403 Forbidden", JSON, '{"detail": "X-Signature header is missing"}')


def lower(body, signature, timestamp):
    good = signature == mac(timestamp.encode(), b".", body.decode("ascii", "ignore").encode())
    return OK if good and fresh(timestamp) else BAD


RECEIVERS = {name: one for name, one in globals().items() if callable(one) and getattr(one, "__module__", "") == __name__}


def application(environ, start_response):
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    receive = RECEIVERS.get(environ["PATH_INFO"][1:])
    if receive is None:
        status, kind, text = "404 Not Found", "text/html", "<h1>Not Found</h1>"
    else:
        signature = environ.get("HTTP_X_SERVICE_SIGNATURE", "")
        timestamp = environ.get("HTTP_X_SERVICE_TIMESTAMP", "")
        try:
            status, kind, text = receive(body, signature, timestamp)
        except Exception as error:
            status, kind, text = "500 Internal Server Error", "text/html", f"<h1>{type(error).__name__}: {error}</h1>"
    start_response(status, [("content-type", kind)])
    return [text.encode()]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


with make_server("127.0.0.1", 0, application, handler_class=Quiet) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
