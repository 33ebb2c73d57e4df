// Days of the calendar as people write them: 2026-12-24, 12-25 of every year, 12-24..01-02.
export const dates = /^(\d{4}-)?\d\d-\d\d(\.\.(\d{4}-)?\d\d-\d\d)?$/;
