/** The provider's window, as far as it is known, by the clock of this process. */
export interface Window {
  /** No earlier than its true end, by up to a second: resets are given in whole seconds. */
  endsAtMs: number;
  lengthMs: number;
  /** Whether headers said so; else it is a guess. */
  fromHeaders: boolean;
  /**
   * 1,000 with a provider that rounds its resets down: it was found out by being refused at a window's very beginning.
   */
  slackMs: number;
}

export interface ResetFromHeaders {
  sentAtMs: number;
  answeredAtMs: number;
  resetSeconds: number;
}

/**
 * Which window an answer speaks of, and what it says of its end.
 *
 * - `same`: of the one that is known, and nothing new; `earlier`: it ends earlier than thought
 * - `is`: the first that is known; `next`: a later window has begun
 * - `unclear`: perhaps of the one before, so nothing in it counts
 */
export interface EdgeNews {
  says: "same" | "earlier" | "is" | "next" | "unclear";
  window: Window;
}

/** Windows are known to whole seconds. */
const SECOND = 1_000;
/** Within this, two ends are the same. */
const TOLERANCE_MS = 250;
/** More than rounding explains: then the length of the window is another. */
const BEYOND_ROUNDING_MS = 1_500;

/** An application of which nothing is known: windows of whole minutes, as most clocks cut them. */
export function guessedWindow(lengthMs: number, nowMs: number): Window {
  return { endsAtMs: (Math.floor(nowMs / lengthMs) + 1) * lengthMs, lengthMs, fromHeaders: false, slackMs: 0 };
}

/** The window of that instant, in the known phase. A clock that was set back by much makes the end a guess again. */
export function windowAt(window: Window, nowMs: number): Window {
  const { endsAtMs, lengthMs } = window;
  if (nowMs < endsAtMs - 2 * lengthMs) return { ...guessedWindow(lengthMs, nowMs), slackMs: window.slackMs };
  if (nowMs < endsAtMs) return window;
  const passed = Math.floor((nowMs - endsAtMs) / lengthMs) + 1;
  return { ...window, endsAtMs: endsAtMs + passed * lengthMs };
}

export function startOf({ endsAtMs, lengthMs }: Window): number {
  return endsAtMs - lengthMs;
}

/**
 * The answer's window ends between a second less than its reset after the request left, and its reset after the answer
 * came. Taken together over answers that bound comes down to a few milliseconds.
 */
export function readEdge(window: Window, { sentAtMs, answeredAtMs, resetSeconds }: ResetFromHeaders): EdgeNews {
  const resetMs = resetSeconds * SECOND;
  const latestMs = answeredAtMs + resetMs + window.slackMs;
  const earliestMs = sentAtMs + resetMs - SECOND;
  const lengthMs = Math.max(window.lengthMs, resetMs);
  if (!window.fromHeaders)
    return { says: "is", window: { ...window, endsAtMs: latestMs, lengthMs, fromHeaders: true } };
  if (earliestMs > window.endsAtMs + TOLERANCE_MS)
    return { says: "next", window: nextWindow(window, latestMs, resetMs) };
  if (earliestMs <= startOf(window) + TOLERANCE_MS) return { says: "unclear", window };
  if (latestMs >= window.endsAtMs - 1) return { says: "same", window };
  const byMs = window.endsAtMs - latestMs;
  const shorter = byMs > BEYOND_ROUNDING_MS ? wholeSeconds(latestMs - startOf(window)) : window.lengthMs;
  return { says: "earlier", window: { ...window, endsAtMs: latestMs, lengthMs: Math.max(shorter, resetMs) } };
}

/** A refusal this soon after a window's beginning means that it has not begun for the provider. */
const AT_THE_BEGINNING_MS = 2_500;

/**
 * The window after a 429 that shows it to begin later than thought: the provider rounds its resets down. Undefined
 * where it shows nothing of the kind.
 * @param waitMs what the 429 asks to wait
 */
export function refusedTooEarly(window: Window, sentAtMs: number, waitMs: number): Window | undefined {
  const sinceStartMs = sentAtMs - startOf(window);
  const early = window.fromHeaders && sinceStartMs >= 0 && sinceStartMs < AT_THE_BEGINNING_MS && waitMs <= SECOND;
  if (!early || window.slackMs > 0) return undefined;
  return { ...window, endsAtMs: window.endsAtMs + SECOND, slackMs: SECOND };
}

function nextWindow(window: Window, endsAtMs: number, resetMs: number): Window {
  const apartMs = wholeSeconds(endsAtMs - window.endsAtMs);
  const lengthMs = Math.max(Math.min(window.lengthMs, apartMs), resetMs);
  return { ...window, endsAtMs, lengthMs };
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.round(ms / SECOND)) * SECOND;
}
