package offsite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// bucket is a folder in an S3 bucket, which is the first part of the path: all servers know that form.
type bucket struct{ server }

func newBucket(s server, a Address) (Place, error) {
	if strings.Trim(s.at.Path, "/") == "" {
		return nil, &FieldError{"url", "the bucket is missing: want https://server/bucket or https://server/bucket/folder"}
	}
	region, who := a.Region, aws.Credentials{AccessKeyID: a.User, SecretAccessKey: a.Password}
	if region == "" {
		region = "us-east-1"
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	s.sign = func(r *http.Request, payload string) error {
		r.Header.Set("X-Amz-Content-Sha256", payload)
		return signer.SignHTTP(r.Context(), who, r, payload, "s3", region, time.Now())
	}
	return bucket{s}, nil
}

// List asks for what begins with the prefix: a thousand at most, and a series has fewer.
func (b bucket) List(ctx context.Context, prefix string) ([]string, error) {
	name, folder, _ := strings.Cut(strings.Trim(b.at.Path, "/"), "/")
	if folder != "" {
		folder += "/"
	}
	at := *b.at
	at.Path, at.RawPath = "/"+name, ""
	at.RawQuery = url.Values{"list-type": {"2"}, "prefix": {folder + prefix}}.Encode()
	res, err := b.do(ctx, http.MethodGet, &at, nil, nil, 0, emptySum, http.StatusOK)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var list struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []struct{ Key string }
	}
	if err := xml.NewDecoder(io.LimitReader(res.Body, answerMost)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s does not answer as a bucket does: %w", b.at.Host, err)
	}
	var names []string
	for _, c := range list.Contents {
		if name, ok := strings.CutPrefix(c.Key, folder); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// Put sends a file. The server compares its sum with what arrived.
func (b bucket) Put(ctx context.Context, name string, content io.Reader, size int64, sum [sha256.Size]byte) error {
	head := http.Header{"Content-Type": {"application/octet-stream"}, "Expect": {"100-continue"}} // who refuses says so before it is sent
	return b.done(ctx, http.MethodPut, b.file(name), head, content, size, hex.EncodeToString(sum[:]), http.StatusOK)
}

// Get reads a file.
func (b bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) { return b.get(ctx, name) }

// Remove removes a file.
func (b bucket) Remove(ctx context.Context, name string) error {
	return b.done(ctx, http.MethodDelete, b.file(name), nil, nil, 0, emptySum, http.StatusOK, http.StatusNoContent, http.StatusNotFound)
}
