package apikey

import (
	"time"

	"svc.internal/controller/platform"
)

// record is a key as its owner sees it. All fields but Key are always there, null if
// empty.
type record struct {
	ID          string               `json:"id"`
	Name        string               `json:"name"`
	Prefix      string               `json:"prefix"`
	Status      platform.Status      `json:"status"`
	IsActive    bool                 `json:"isActive"`
	ExpiresAt   *string              `json:"expiresAt"`
	RateLimit   int                  `json:"rateLimit"`
	Permissions platform.Permissions `json:"permissions"`
	CreatedAt   *string              `json:"createdAt"`
	LastUsedAt  *string              `json:"lastUsedAt"`
	// Key is the whole value, once.
	Key string `json:"key,omitempty"`
}

func (r *Room) record(k platform.Key) record {
	status := k.Status(r.now())
	return record{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix,
		Status: status, IsActive: status == platform.Active,
		ExpiresAt: stamp(k.ExpiresAt), RateLimit: k.RateLimit, Permissions: k.Permissions,
		CreatedAt: stamp(k.CreatedAt), LastUsedAt: stamp(k.LastUsedAt),
	}
}

// stamp is a time in ISO 8601, nil for none.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format("2006-01-02T15:04:05.000Z")
	return &text
}
