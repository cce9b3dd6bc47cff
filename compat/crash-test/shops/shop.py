"""A shop in Python's standard library: it fulfils inside the request, in one transaction with a unique key."""
import hashlib
import hmac
import json
import os
import re
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILE = os.environ["SHOP_FILE"]
SECRET = os.environ["PAYMENTS_WEBHOOK_SECRET"].encode()


def database():
    return sqlite3.connect(FILE, timeout=10, isolation_level=None)


with database() as db:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE IF NOT EXISTS paid (order_id TEXT PRIMARY KEY, amount TEXT NOT NULL)")
    db.execute("CREATE TABLE IF NOT EXISTS held (order_id TEXT, body TEXT)")


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        timestamp = self.headers.get("x-service-timestamp", "")
        mac = hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(mac, self.headers.get("x-service-signature", "")):
            return self.answer(400)
        event = json.loads(body)
        if event["type"] == "order.paid":
            self.fulfil(event["data"]["order_id"], event["data"]["amount"], body)
        self.answer(200)

    def do_GET(self):
        self.answer(404)

    def fulfil(self, order_id, amount, body):
        db = database()
        try:
            db.execute("BEGIN IMMEDIATE")
            known = db.execute("SELECT amount FROM paid WHERE order_id = ?", (order_id,)).fetchone()
            if re.fullmatch(r"\d+(\.\d{1,2})?", amount) and known is None:
                db.execute("INSERT INTO paid VALUES (?, ?)", (order_id, amount))
            elif known != (amount,):
                db.execute("INSERT INTO held VALUES (?, ?)", (order_id, body.decode()))
            db.execute("COMMIT")
        finally:
            db.close()

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
