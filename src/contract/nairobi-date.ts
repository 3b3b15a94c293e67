/**
 * Kenya has kept UTC+3 without summer time since 1960, so no time zone database is needed (and none is in the sandbox).
 */
const NAIROBI_OFFSET_MS = 3 * 60 * 60 * 1000;

/** The date in Africa/Nairobi at an instant (Unix milliseconds), as `YYYY-MM-DD`. */
export function nairobiDate(atMs: number): string {
  return new Date(atMs + NAIROBI_OFFSET_MS).toISOString().slice(0, 10);
}

/** Whether the text is a date that exists, written `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}
