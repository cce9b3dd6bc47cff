"""Drives the sandbox through its control routes alone: `merchant-payments exec -- python3 -m pytest`."""
import json
import os
import urllib.error
import urllib.request

BASE = os.environ["SANDBOX_URL"]


def call(method, path, body=None, key=None):
    headers = {} if body is None else {"content-type": "application/json"}
    if key:
        headers["x-api-key"] = key
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def control(method, path, body=None):
    return call(method, "/_sandbox" + path, body)


def setup_function():
    assert control("DELETE", "/state?seed=1")[0] == 200


def test_a_payment_and_its_event():
    status, paid = control("POST", "/trigger", {"amount": "5.00"})
    assert (status, paid["order"]["amount"]) == (200, "5.00")
    events = control("GET", "/events?wait=5s")[1]["events"]
    assert [event["id"] for event in events] == [paid["event"]["id"]]


def test_the_balance_follows_the_clock():
    control("POST", "/trigger")
    control("POST", "/clock", {"advance": "1d"})
    assert control("POST", "/balance", {"settle": True})[1]["available"] == "19.90"


def test_a_fault_happens_once():
    control("POST", "/faults", {"status": 503, "path": "/v1/balance"})
    key = os.environ["PAYMENTS_API_KEY"]
    assert [call("GET", "/v1/balance", key=key)[0] for _ in range(2)] == [503, 200]


def test_a_webhook_a_forgery_and_none():
    url = "http://127.0.0.1:9/hook"
    assert control("POST", "/webhook", {"url": url})[1] == {"url": url}
    assert control("POST", "/webhook", {"url": None})[1] == {"url": None}
    event = control("POST", "/trigger")[1]["event"]
    forged = control("POST", "/signed-request", {"eventId": event["id"], "tamper": "body"})[1]
    assert forged["body"] != event["body"]


def test_what_is_wrong_is_named():
    status, answer = control("POST", "/clock", {"advance": "5"})
    assert status == 400 and "has no unit" in answer["error"]["message"]
