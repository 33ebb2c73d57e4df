package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"svc.internal/controller/drivers/drivertest"
)

// bomb is a document whose values multiply by ten at every level.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("site: {name: x}\nbuses: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range levels {
		fmt.Fprintf(&b, "l%d: &a%d [%s*a%d]\n", i, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	return b.String()
}

// numbered writes something for each number, which takes the place of its %d.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// inUTF16 is a text as other editors save it.
func inUTF16(text string) string {
	out := []byte("\xff\xfe")
	for _, c := range []byte(text) {
		out = append(out, c, 0)
	}
	return string(out)
}

func TestHostileSiteFiles(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	b := newBroughtTo(t)
	for _, c := range []struct{ name, file, words string }{
		{"3.5 MB of empty nodes", "nodes: [" + strings.Repeat("{},", 1_170_000) + "{}]", "marks of lists and mappings"},
		{"3.5 MB of empty entries in lines", "nodes:\n" + strings.Repeat("-\n", 1_750_000), "marks of lists and mappings"},
		{"empty entries behind a comment that ends with a carriage return", "#\rnodes:\n#" + strings.Repeat("\r-", 1_100_000) + "\n", "marks of lists and mappings"},
		{"empty entries behind a comment that ends as a paragraph does", "nodes:\n#" + strings.Repeat("\u2029-", 800_000) + "\n", "marks of lists and mappings"},
		{"empty entries in lines of another kind", "nodes:\n" + strings.Repeat("-\u0085", 1_100_000), "marks of lists and mappings"},
		{"empty entries in UTF-16", inUTF16("nodes:\n" + strings.Repeat("-\n", 900_000)), "UTF-8"},
		{"as many empty nodes as are parsed", "nodes: [" + strings.Repeat("{},", 124_000) + "{}]", "more problems are not shown"},
		{"as many empty entries as are parsed", "nodes:\n" + strings.Repeat("-\n", 199_000), "more problems are not shown"},
		{"as many unknown keys as are parsed", "{" + numbered("k%d,", 249_000) + "}", "has 249000 keys"},
		{"unknown keys as a mapping may have", "{" + numbered("k%d,", 1000) + "}", "k0"},
		{"a cluster of as many wrong nodes as are parsed", "clusters: [{name: x, nodes: [" + strings.Repeat("{},", 124_000) + "{}]}]", "more problems are not shown"},
		{"values that multiply", bomb(9), "more than 200000 values"},
		{"values that multiply as far as they may", bomb(4), "l0"},
		{"a million deep", strings.Repeat("[", 1_000_000), "marks of lists and mappings"},
		{"as deep as is parsed", strings.Repeat("[", 240_000), "max depth"},
		{"deep in lines", "a:\n" + strings.Repeat("- ", 240_000) + "x", "line"},
		{"nodes of one name and address", "buses: [{name: b, driver: modbus, port: /dev/x}]\nnodes:\n" + strings.Repeat("- {name: n, bus: b, address: 1, profile: p}\n", 24_000), "more problems are not shown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.refuses(t, "/api/v1/site/file/preview", c.file, http.StatusUnprocessableEntity, c.words)
		})
	}
	t.Run("an honest one of 5,000 lights", func(t *testing.T) {
		file := "site: {name: Large}\nbuses:\n" + numbered("- {name: b%[1]d, driver: modbus, port: /dev/x%[1]d, line: {baudRate: 19200, parity: even, stopBits: 1}}\n", 50) + "nodes:\n"
		for i := range 5000 {
			file += fmt.Sprintf("- id: %d\n  name: \"Lamp %d, north\"\n  bus: b%d\n  address: %d\n  profile: wirenboard-wb-mdm3\n  outputs: [%d]\n", 100+i, i, i%50, 1+i/150, 1+i/50%3)
		}
		if status, body, _ := b.send(http.MethodPost, "/api/v1/site/file/preview", b.admin, file); status != http.StatusOK || !strings.Contains(string(body), "Lamp 4999, north") {
			t.Errorf("%d %.500s", status, body)
		}
		b.lives(t)
	})
}

// TestManyBringFilesAtOnce has twenty people bring at once what is dear to look at alone.
func TestManyBringFilesAtOnce(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	b := newBroughtTo(t)
	file := "clusters: [{name: x, nodes: [" + strings.Repeat("{},", 124_000) + "{}]}]"
	var all sync.WaitGroup
	var refused atomic.Int64
	for i := range 20 {
		path := "/api/v1/site/file/preview"
		if i%2 == 1 {
			path = "/api/v1/backup/drill"
		}
		all.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+path, strings.NewReader(file))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+b.admin)
			res, err := b.client.Do(req)
			if err != nil {
				t.Errorf("POST %s: %v", path, err)
				return
			}
			res.Body.Close()
			switch res.StatusCode {
			case http.StatusUnprocessableEntity: // its turn came
				refused.Add(1)
			case http.StatusServiceUnavailable:
			default:
				t.Errorf("POST %s: %d", path, res.StatusCode)
			}
		})
	}
	all.Wait()
	if refused.Load() == 0 {
		t.Error("nobody's turn came")
	}
	b.lives(t)
}
