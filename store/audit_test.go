package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/shelf/account"
)

func TestAuditLogIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	const more = 25
	if err := s.write(t.Context(), func(tx *sql.Tx) error {
		for i := range maxAudit + more {
			a := account.Audit{Who: "mira", From: "192.0.2.7", What: "node.change", Subject: fmt.Sprint("node ", i)}
			if i == maxAudit+more-1 {
				a.Detail = strings.Repeat("x", 2*maxAuditDetail)
			}
			if err := noteAudit(t.Context(), tx, s.now(), a); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	list, err := s.Audits(t.Context(), 2*maxAudit, 0, true)
	if err != nil || len(list) != maxAudit {
		t.Fatalf("%d entries are kept (%v), want %d", len(list), err, maxAudit)
	}
	if newest, oldest := list[0], list[len(list)-1]; newest.Subject != fmt.Sprint("node ", maxAudit+more-1) || oldest.Subject != fmt.Sprint("node ", more) {
		t.Errorf("kept are %s to %s", oldest.Subject, newest.Subject)
	}
	if n := len(list[0].Detail); n > maxAuditDetail+len("…") {
		t.Errorf("an entry has %d bytes of detail, want at most %d", n, maxAuditDetail)
	}
}
