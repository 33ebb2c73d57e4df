package store

import (
	"context"
	"fmt"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

func largeSite(n int) appliance.Site {
	bus := appliance.UUID{15: 1}
	in := appliance.Site{Name: "Large", Buses: []appliance.Bus{{UUID: bus, Name: "bus", Driver: "modbus"}}}
	for i := range n {
		in.Nodes = append(in.Nodes, appliance.Node{ID: appliance.ID(-1 - i), Name: fmt.Sprint("node ", i), Bus: bus,
			Address: fmt.Sprint(i), Profile: "dimmer", Outputs: []int{1, 2}})
		if i%10 == 0 {
			in.Clusters = append(in.Clusters, appliance.Cluster{Name: fmt.Sprint("cluster ", i), Nodes: []appliance.ID{appliance.ID(-1 - i)}})
		}
	}
	return in
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir)
	imports(b, s, largeSite(200), ImportOptions{})
	s.Close()
	for b.Loop() {
		s, err := Open(context.Background(), dir, quiet())
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkImport(b *testing.B) {
	for _, n := range []int{200, 5000} {
		b.Run(fmt.Sprint("nodes=", n), func(b *testing.B) {
			s := open(b, b.TempDir())
			in := largeSite(n)
			for b.Loop() {
				imports(b, s, in, ImportOptions{Replace: true})
				b.StopTimer()
				imports(b, s, appliance.Site{}, ImportOptions{Replace: true})
				b.StartTimer()
			}
		})
	}
}

func BenchmarkSite(b *testing.B) {
	s := open(b, b.TempDir())
	imports(b, s, largeSite(200), ImportOptions{})
	for b.Loop() {
		load(b, s)
	}
}

func BenchmarkKeyOf(b *testing.B) {
	s := open(b, b.TempDir())
	secret, _, err := s.AddKey(context.Background(), "k", false)
	if err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, ok := s.KeyOf(secret); !ok {
				b.Error("key is unknown")
				return
			}
		}
	})
}

func BenchmarkCheckPassword(b *testing.B) {
	s := open(b, b.TempDir())
	addUser(b, s, "anna", account.RoleAdmin)
	for name, user := range map[string]string{"known": "anna", "unknown": "nobody"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.CheckPassword(context.Background(), user, "a wrong password"); err != account.ErrAuthFailed {
					b.Fatal(err)
				}
			}
		})
	}
}
