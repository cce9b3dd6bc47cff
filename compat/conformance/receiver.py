"""A receiver over HTTP, right or with one planted fault: `python3 receiver.py <fault>`. Prints its port."""

import http.server
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "conformance" / "verifiers"))
sys.dont_write_bytecode = True
from verify import Rejected, verify  # noqa: E402

SCHEME = {
    "algorithm": "sha256",
    "encoding": "hex",
    "prefix": "",
    "content": "{timestamp}.{body}",
    "timestamp": "auto",
    "secretEncoding": "utf8",
    "signatureHeader": "x-service-signature",
    "timestampHeader": "x-service-timestamp",
}


def checked(body, headers):
    verify(body, headers, [os.environ["WEBHOOK_SECRET"]], time.time(), 300, SCHEME)


def trusts_what_is_unsigned(body, headers):
    if any(name == SCHEME["signatureHeader"] for name, _ in headers):
        checked(body, headers)


def breaks_on_other_text(body, headers):
    for name, value in headers:
        if name == SCHEME["signatureHeader"]:
            bytes.fromhex(value)
    checked(body, headers)


def signs_what_it_parsed(body, headers):
    try:
        again = json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()
    except ValueError:
        again = body
    checked(again, headers)


FAULTS = {
    "none": checked,
    "takes a delivery without a signature": trusts_what_is_unsigned,
    "breaks on a signature that is not hex": breaks_on_other_text,
    "verifies the JSON that it parsed": signs_what_it_parsed,
}
RECEIVE = FAULTS[sys.argv[1] if len(sys.argv) > 1 else "none"]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = [(name.lower(), value) for name, value in self.headers.items()]
        try:
            RECEIVE(body, headers)
            self.send_response(200)
        except Rejected as error:
            self.send_response(400 if error.kind == "verification" else 500)
        except Exception:
            self.send_response(500)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
