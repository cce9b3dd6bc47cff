// Receivers as developers write them in Go, one a path. `go run receivers.go` prints its port.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var secret = []byte(os.Getenv("WEBHOOK_SECRET"))

func mac(timestamp string, body []byte) string {
	hash := hmac.New(sha256.New, secret)
	hash.Write([]byte(timestamp + "."))
	hash.Write(body)
	return hex.EncodeToString(hash.Sum(nil))
}

func age(timestamp string) time.Duration {
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	return time.Since(time.Unix(seconds, 0))
}

type check func(mac, signature, timestamp string, body []byte) bool

func answer(holds check) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		timestamp := r.Header.Get("X-Service-Timestamp")
		if !holds(mac(timestamp, body), r.Header.Get("X-Service-Signature"), timestamp, body) {
			http.Error(w, "invalid signature", http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusOK)
	}
}

func fresh(timestamp string) bool { return age(timestamp).Abs() <= 5*time.Minute }

func main() {
	http.HandleFunc("/right", answer(func(mac, signature, timestamp string, _ []byte) bool {
		return hmac.Equal([]byte(mac), []byte(signature)) && fresh(timestamp)
	}))
	http.HandleFunc("/one-header", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		signatures := r.Header.Values("X-Service-Signature")
		timestamp := r.Header.Get("X-Service-Timestamp")
		if len(signatures) != 1 || !hmac.Equal([]byte(mac(timestamp, body)), []byte(signatures[0])) || !fresh(timestamp) {
			http.Error(w, "invalid signature", http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	http.HandleFunc("/suffix", answer(func(mac, signature, timestamp string, _ []byte) bool {
		return strings.HasSuffix(mac, signature) && fresh(timestamp)
	}))
	http.HandleFunc("/prefix", answer(func(mac, signature, timestamp string, _ []byte) bool {
		return signature != "" && strings.HasPrefix(mac, signature) && fresh(timestamp)
	}))
	http.HandleFunc("/past-only", answer(func(mac, signature, timestamp string, _ []byte) bool {
		return mac == signature && age(timestamp) < 5*time.Minute
	}))
	http.HandleFunc("/marshal", answer(func(_, signature, timestamp string, body []byte) bool {
		var event map[string]any
		json.Unmarshal(body, &event)
		again, _ := json.Marshal(event)
		return mac(timestamp, again) == signature && fresh(timestamp)
	}))
	http.HandleFunc("/decoder-first", func(w http.ResponseWriter, r *http.Request) {
		var event map[string]any
		json.NewDecoder(r.Body).Decode(&event)
		rest, _ := io.ReadAll(r.Body)
		timestamp := r.Header.Get("X-Service-Timestamp")
		if mac(timestamp, rest) != r.Header.Get("X-Service-Signature") {
			http.Error(w, "invalid signature", http.StatusUnauthorized)
		}
	})
	http.HandleFunc("/no-return", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		timestamp := r.Header.Get("X-Service-Timestamp")
		if mac(timestamp, body) != r.Header.Get("X-Service-Signature") || !fresh(timestamp) {
			fmt.Fprintln(w, "invalid signature") // and no status
			return
		}
		fmt.Fprintln(w, "ok")
	})
	http.HandleFunc("/never", func(w http.ResponseWriter, r *http.Request) {
		var event struct{ Type string }
		if json.NewDecoder(r.Body).Decode(&event) != nil {
			http.Error(w, "bad json", http.StatusBadRequest)
		}
	})
	http.HandleFunc("/panics", answer(func(mac, signature, timestamp string, _ []byte) bool {
		if mac == signature {
			panic("runtime error: invalid memory address or nil pointer dereference")
		}
		return false
	}))
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, nil)
}
