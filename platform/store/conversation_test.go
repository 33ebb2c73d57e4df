package store_test

import (
	"fmt"
	"testing"

	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/store"
)

func TestAConversationBelongsToItsOwnerAndIsSeenByEveryInstance(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		for _, text := range []string{`{"a":1}`, `{"a":2}`} {
			if err := one.KeepConversation(t.Context(), "ann", "s", []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := two.Conversation(t.Context(), "ann", "s"); err != nil || string(got) != `{"a":2}` {
			t.Errorf("got %q %v, want the newest", got, err)
		}
		if got, err := two.Conversation(t.Context(), "bob", "s"); err != nil || got != nil {
			t.Errorf("another owner reads %q %v", got, err)
		}
	})
}

func TestConversationsOfAnOwnerAreBounded(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		s := db.Open(t)
		if err := s.KeepConversation(t.Context(), "bob", "0", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		for i := range store.MaxConversations + 3 {
			if err := s.KeepConversation(t.Context(), "ann", fmt.Sprint(i), []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		kept := 0
		for i := range store.MaxConversations + 3 {
			if got, err := s.Conversation(t.Context(), "ann", fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			} else if got != nil {
				kept++
			}
		}
		if kept != store.MaxConversations {
			t.Errorf("%d are kept, want %d", kept, store.MaxConversations)
		}
		if got, _ := s.Conversation(t.Context(), "bob", "0"); got == nil {
			t.Error("one owner's sessions pushed another's out")
		}
		if err := s.KeepConversation(t.Context(), "ann", "big", make([]byte, 1<<20)); err == nil {
			t.Error("a conversation of 1 MiB is kept")
		}
	})
}
