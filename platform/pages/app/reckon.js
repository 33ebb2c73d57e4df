// When a finger was somewhere, by the platform's time: our own clock may be wrong, and may jump.

// reckon takes the times that the platform tells, and gives by them what our monotonic clock says now, or said; nothing before the
// first.
export function reckon() {
  // ahead: of our clock, in milliseconds; what was longer on its way tells less
  let ahead;
  return {
    hear: (time) => {
      const by = Date.parse(time) - performance.now();
      if (!(by <= ahead)) ahead = by;
    },
    at: (moment = performance.now()) => (ahead === undefined ? undefined : new Date(ahead + moment).toISOString()),
  };
}
