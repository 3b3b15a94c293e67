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

/**
 * A date that exists, written `YYYY-MM-DD`, as a regular expression of JavaScript and of PostgreSQL: days of each month,
 * then the leap days. There is no year 0.
 */
export const CALENDAR_DATE =
  "^(?!0000)(?:" +
  "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))" +
  "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)$";

const IS_CALENDAR_DATE = new RegExp(CALENDAR_DATE);

export function isCalendarDate(text: string): boolean {
  return IS_CALENDAR_DATE.test(text);
}
