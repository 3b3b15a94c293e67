const FORMAT = new Intl.DateTimeFormat("en-CA", {
  timeZone: "Africa/Nairobi",
  dateStyle: "short",
  timeStyle: "short",
  hourCycle: "h23",
});

/** An instant as a shop's clock showed it: `2026-11-21 13:05 EAT`. */
export function nairobiTime(atMs: number): string {
  return `${FORMAT.format(atMs).replace(",", "")} EAT`;
}
