// A verifier in Go, written from README.md alone.
//
//	node conformance/run.mjs --stdio -- go run conformance/verifiers/verify.go
package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

type question struct {
	ID               string
	Body             []byte
	Headers          [][2]string
	Secrets          []string
	Now              float64
	ToleranceSeconds float64
	Scheme           scheme
}

type scheme struct {
	Algorithm, Content, Encoding, Prefix, Separator, SecretEncoding, SignatureHeader, Timestamp, TimestampHeader string
}

type rejected string

func (kind rejected) Error() string { return string(kind) }

const (
	config       = rejected("config")
	verification = rejected("verification")
	payload      = rejected("payload")
)

var hashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

func verify(q question) (json.RawMessage, error) {
	before, after, hasBody := strings.Cut(q.Scheme.Content, "{body}")
	if !(q.ToleranceSeconds > 0) || !hasBody {
		return nil, config
	}
	var keys [][]byte
	for _, secret := range q.Secrets {
		key, err := keyOf(secret, q.Scheme.SecretEncoding)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	header, err := only(q.Headers, q.Scheme.SignatureHeader)
	if err != nil {
		return nil, err
	}
	timestamp, err := only(q.Headers, q.Scheme.TimestampHeader)
	if err != nil {
		return nil, err
	}
	sentAt, err := secondsOf(timestamp, q.Scheme.Timestamp)
	if err != nil {
		return nil, err
	}
	signatures, err := signaturesOf(header, q.Scheme)
	if err != nil {
		return nil, err
	}
	isSigned := false
	for _, key := range keys {
		mac := hmac.New(hashes[q.Scheme.Algorithm], key)
		mac.Write([]byte(strings.ReplaceAll(before, "{timestamp}", timestamp)))
		mac.Write(q.Body)
		mac.Write([]byte(strings.ReplaceAll(after, "{timestamp}", timestamp)))
		made := mac.Sum(nil)
		for _, signature := range signatures {
			isSigned = hmac.Equal(made, signature) || isSigned
		}
	}
	if !isSigned || math.Abs(q.Now-sentAt) > q.ToleranceSeconds {
		return nil, verification
	}
	return eventOf(q.Body)
}

func keyOf(secret, encoding string) ([]byte, error) {
	if strings.TrimSpace(secret) != secret || secret == "" || secret == "null" || secret == "undefined" {
		return nil, config
	}
	if encoding == "utf8" {
		return []byte(secret), nil
	}
	key, err := decode(secret, encoding)
	if err != nil {
		return nil, config
	}
	return key, nil
}

func only(headers [][2]string, name string) (string, error) {
	var values []string
	for _, header := range headers {
		if strings.EqualFold(header[0], name) {
			values = append(values, header[1])
		}
	}
	if len(values) != 1 || len(values[0]) > 4096 {
		return "", verification
	}
	return values[0], nil
}

var (
	isISO  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
	isUnix = regexp.MustCompile(`^[1-9]\d{0,13}$`)
)

func secondsOf(text, unit string) (float64, error) {
	if unit == "iso8601" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil || !isISO.MatchString(text) {
			return 0, verification
		}
		return float64(at.UnixMilli()) / 1000, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !isUnix.MatchString(text) {
		return 0, verification
	}
	if seconds >= 1e11 {
		seconds /= 1000
	}
	return seconds, nil
}

func signaturesOf(header string, scheme scheme) ([][]byte, error) {
	items := []string{header}
	if scheme.Separator != "" {
		items = strings.Split(header, scheme.Separator)
	}
	var found [][]byte
	for _, item := range items {
		if !strings.HasPrefix(item, scheme.Prefix) {
			return nil, verification
		}
		signature, err := decode(item[len(scheme.Prefix):], scheme.Encoding)
		if err != nil || len(signature) != hashes[scheme.Algorithm]().Size() {
			return nil, verification
		}
		found = append(found, signature)
	}
	return found, nil
}

// decode returns the bytes, or an error unless the text is their one spelling.
func decode(text, encoding string) ([]byte, error) {
	if encoding == "hex" {
		return hex.DecodeString(text)
	}
	coding := base64.StdEncoding
	if encoding == "base64url" {
		coding = base64.RawURLEncoding
	}
	found, err := coding.DecodeString(text)
	if err == nil && coding.EncodeToString(found) != text {
		err = fmt.Errorf("%q is not the spelling of its bytes", text)
	}
	return found, err
}

func eventOf(body []byte) (json.RawMessage, error) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	// Into a map: the fields of a struct would be found in any letter case.
	var event map[string]any
	if !utf8.Valid(body) || json.Unmarshal(body, &event) != nil {
		return nil, payload
	}
	kind, isText := event["type"].(string)
	data, _ := event["data"].(map[string]any)
	order, _ := data["order_id"].(string)
	if isText && (kind != "order.paid" || (order != "" && isMoney(data["amount"]))) {
		return body, nil
	}
	return nil, payload
}

var isDecimal = regexp.MustCompile(`^\d+(\.\d+)?$`)

func isMoney(amount any) bool {
	text, isText := amount.(string)
	_, isNumber := amount.(float64)
	return isNumber || (isText && isDecimal.MatchString(text))
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		outcome := map[string]any{"id": asked.ID, "result": "accepted"}
		if event, err := verify(asked); err != nil {
			outcome["result"], outcome["kind"] = "rejected", err.Error()
		} else {
			outcome["event"] = event
		}
		text, err := json.Marshal(outcome)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}
