package fencing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/holdfast-go/holdfast/fence"
)

// Bucket is an object store over HTTP, with the conditional requests that S3 has.
type Bucket struct{ URL string }

var _ fence.Objects = Bucket{}

// Get is Get of [fence.Objects].
func (b Bucket) Get(ctx context.Context, key string) (body []byte, tag string, err error) {
	return b.do(ctx, http.MethodGet, key, nil, nil)
}

// Put is Put of [fence.Objects].
func (b Bucket) Put(ctx context.Context, key string, body []byte, match string) error {
	condition := http.Header{"If-Match": {match}}
	if match == "" {
		condition = http.Header{"If-None-Match": {"*"}}
	}
	_, _, err := b.do(ctx, http.MethodPut, key, body, condition)
	return err
}

func (b Bucket) do(ctx context.Context, method, key string, body []byte, h http.Header) (found []byte, tag string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, b.URL+"/"+key, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	for name, values := range h {
		req.Header[name] = values
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer reply.Body.Close()
	found, err = io.ReadAll(reply.Body)
	switch {
	case err != nil:
		return nil, "", err
	case method == http.MethodGet && reply.StatusCode == http.StatusNotFound:
		return nil, "", fence.ErrNoObject
	case method == http.MethodPut && (reply.StatusCode == http.StatusPreconditionFailed ||
		reply.StatusCode == http.StatusConflict || reply.StatusCode == http.StatusNotFound):
		return nil, "", fence.ErrConflict
	case reply.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("%s %s: %s", method, key, reply.Status)
	}
	return found, reply.Header.Get("ETag"), nil
}

// Serve is the server of a [Bucket].
func Serve(objects fence.Objects) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.URL.Path[1:]
		var body []byte
		var tag string
		var err error
		switch r.Method {
		case http.MethodGet:
			body, tag, err = objects.Get(r.Context(), key)
		case http.MethodPut:
			match := r.Header.Get("If-Match")
			if match == "" && r.Header.Get("If-None-Match") != "*" {
				http.Error(w, "a write without a condition", http.StatusBadRequest)
				return
			}
			var sent []byte
			if sent, err = io.ReadAll(r.Body); err == nil {
				err = objects.Put(r.Context(), key, sent, match)
			}
		default:
			http.Error(w, "", http.StatusMethodNotAllowed)
			return
		}
		switch {
		case errors.Is(err, fence.ErrNoObject):
			http.Error(w, "", http.StatusNotFound)
		case errors.Is(err, fence.ErrConflict):
			http.Error(w, "", http.StatusPreconditionFailed)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.Header().Set("ETag", tag)
			_, _ = w.Write(body)
		}
	})
}
