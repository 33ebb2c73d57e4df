package main

import "context"

func measureWaits(ctx context.Context, r *run) error { return nil }
func measureDemo(ctx context.Context, r *run) error  { return nil }
