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

// What is about accounts is told to whom it concerns, and marked as that; pages go on from the last entry that was shown.
func TestWhoSeesWhatInTheAuditLog(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	for i, accounts := range []bool{false, true, false, true} {
		if err := s.Audit(t.Context(), account.Audit{Who: "mira", What: "change", Subject: fmt.Sprint(i), Accounts: accounts}); err != nil {
			t.Fatal(err)
		}
	}
	subjects := func(limit int, before int64, accounts bool) (all string, last int64) {
		t.Helper()
		list, err := s.Audits(t.Context(), limit, before, accounts)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			if all, last = all+a.Subject, a.ID; a.Accounts != (a.Subject == "1" || a.Subject == "3") || a.Who != "mira" {
				t.Errorf("told %+v", a)
			}
		}
		return all, last
	}
	for _, tc := range []struct {
		accounts bool
		pages    []string
	}{{true, []string{"32", "10", ""}}, {false, []string{"20", ""}}} {
		last := int64(0)
		for _, want := range tc.pages {
			var got string
			if got, last = subjects(2, last, tc.accounts); got != want {
				t.Errorf("accounts %v: a page with %q, want %q", tc.accounts, got, want)
			}
			if got == "" {
				break
			}
		}
	}
	if got, _ := subjects(-1, 0, true); got != "" {
		t.Errorf("fewer than none: %q", got)
	}
}
