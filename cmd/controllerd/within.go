package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers"
	"svc.internal/controller/site/recording"
	"svc.internal/controller/site/sitefile"
)

// within is how the daemon looks from within.
func (d *daemon) within(lines *api.Lines, metrics prometheus.Gatherer) api.Within {
	return api.Within{
		Explain: func(b *appliance.Bus, f api.Frame) string { return recordedOn(b, f).Brief() },
		Record:  record, Lines: lines, Ports: d.ports, Ready: d.core.Ready, Kept: d.db.Kept, Site: d.writeSite,
		Metrics: func(_ context.Context, to io.Writer) error { return writeMetrics(to, metrics) },
		Started: time.Now(), Board: d.board.State, Unenrolled: d.cloud.whyUnenrolled,
	}
}

// recordedOn is a frame of a bus as recordings have it, explained.
func recordedOn(b *appliance.Bus, f api.Frame) recording.Frame {
	return operations.Recorded(b.Name, drivers.Protocol(b.Driver, b.Port, b.Options), f)
}

// recordMost bounds a recording of what all flight recorders have, in bytes.
const recordMost = 32 << 20

func record(to io.Writer, frames iter.Seq2[*appliance.Bus, api.Frame]) error {
	w, err := recording.To(to, "controllerd "+version, recordMost)
	if err != nil {
		return err
	}
	for b, f := range frames {
		if err := w.Write(recordedOn(b, f)); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

func (d *daemon) writeSite(ctx context.Context, to io.Writer) error {
	site, faults, err := d.db.Site(ctx)
	if err != nil {
		return err
	}
	return errors.Join(sitefile.Write(to, site), operations.Incomplete(faults))
}

func writeMetrics(to io.Writer, from prometheus.Gatherer) error {
	families, err := from.Gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(to, family); err != nil {
			return fmt.Errorf("write metrics: %w", err)
		}
	}
	return nil
}
