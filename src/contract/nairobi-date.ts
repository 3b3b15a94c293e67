/**
 * Kenya has kept UTC+3 without summer time since 1960, so no time zone database is needed (and none is in the sandbox).
 */
const NAIROBI_OFFSET_MS = 3 * 60 * 60 * 1000;

/** The date in Africa/Nairobi at an instant (Unix milliseconds), as `YYYY-MM-DD`. */
export function nairobiDate(atMs: number): string {
  return new Date(atMs + NAIROBI_OFFSET_MS).toISOString().slice(0, 10);
}

/** An instant (Unix milliseconds) as a shop's clock showed it: `2026-11-21 13:05 EAT`. */
export function nairobiTime(atMs: number): string {
  return `${localText(atMs).slice(0, 16)} EAT`;
}

/** The same to the second, with the time in UTC behind it: `2026-11-21 13:05:59 EAT (10:05:59 UTC)`. */
export function nairobiAndUtcTime(atMs: number): string {
  return `${localText(atMs)} EAT (${new Date(atMs).toISOString().slice(11, 19)} UTC)`;
}

/** An instant (Unix milliseconds) for programs, with its offset: `2026-11-21T13:05:59+03:00`. */
export function nairobiInstant(atMs: number): string {
  return `${localText(atMs).replace(" ", "T")}+03:00`;
}

/** The same to the millisecond: `2026-11-21T13:05:59.042+03:00`. */
export function exactNairobiInstant(atMs: number): string {
  return new Date(atMs + NAIROBI_OFFSET_MS).toISOString().replace("Z", "+03:00");
}

function localText(atMs: number): string {
  return new Date(atMs + NAIROBI_OFFSET_MS).toISOString().slice(0, 19).replace("T", " ");
}

/** Whether the text is a date that exists, written `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}
