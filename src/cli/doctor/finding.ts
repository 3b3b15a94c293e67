import { plainLine } from "../../contract/plain-text.ts";

/**
 * `fault`: it does not work, so that sales are not issued or recorded, or a service cannot be used. `warning`: it
 * works, but not as it should, or it cannot be checked.
 */
type Level = "ok" | "warning" | "fault";

export interface Finding {
  /** What was looked at. */
  check: string;
  level: Level;
  /** What is true. */
  message: string;
  /** Further lines of what is true, as they are shown. */
  more?: readonly string[];
  /** What to do about it. */
  todo?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, level: "ok", message };
}

export function warning(check: string, message: string, todo?: string): Finding {
  return { check, level: "warning", message, ...(todo !== undefined && { todo }) };
}

/** The minute, in UTC: `2026-11-20T09:00Z`. */
export function minuteOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16)}Z`;
}

export function fault(check: string, message: string, todo?: string): Finding {
  return { check, level: "fault", message, ...(todo !== undefined && { todo }) };
}

const MARKS: Readonly<Record<Level, string>> = { ok: "✓", warning: "!", fault: "✗" };

export function findingLines({ check, level, message, more = [], todo }: Finding): string {
  const lines = [`${MARKS[level]} ${check}: ${message}`, ...more, ...(todo === undefined ? [] : [`  → ${todo}`])];
  return lines.map(plainLine).join("\n");
}

/** Further off, and dates and signatures are wrong around midnight. */
const CLOCK_TOLERANCE_MS = 30_000;

/** By the Date of an answer, which counts whole seconds. */
export function clockFindings(
  check: string,
  { serverDateMs, answeredAtMs }: { serverDateMs?: number; answeredAtMs: number },
): Finding[] {
  if (serverDateMs === undefined) return [];
  const offMs = Math.abs(answeredAtMs - serverDateMs);
  if (offMs <= CLOCK_TOLERANCE_MS) return [];
  const message = `this clock and the service's are ${Math.round(offMs / 1_000)} s apart`;
  return [warning(`${check}, clock`, message, "let this host take its time from the network")];
}

/** An answer that takes longer than this makes tills wait. */
const SLOW_ANSWER_MS = 2_500;

/** How soon a service has answered, whatever the answer was. */
export function answerFindings(
  check: string,
  { requestSentAtMs, answeredAtMs }: { requestSentAtMs: number; answeredAtMs: number },
): Finding[] {
  const tookMs = Math.max(0, answeredAtMs - requestSentAtMs);
  const message = `reachable; it answered in ${tookMs} ms`;
  if (tookMs <= SLOW_ANSWER_MS) return [ok(`${check}, service`, message)];
  return [
    warning(`${check}, service`, `${message}: it is slow`, "run doctor again later; if it lasts, ask the provider"),
  ];
}
