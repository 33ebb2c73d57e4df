package main

import (
	"log/slog"
	"os"
)

// log writes to standard error, where systemd and people look.
func (a *app) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: &a.logLevel}))
}
