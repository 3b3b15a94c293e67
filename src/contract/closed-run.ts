/**
 * How a run ended without an outcome: `terminated` by somebody, `failed`, `timed-out`, or `canceled` by Temporal.
 * Nothing carries its sale on until it is restarted. A run that completed is none of these.
 */
export interface ClosedRun {
  status: ClosedStatus;
  /** Unix milliseconds. */
  atMs: number;
  /** As whoever ended it gave it, or what it failed with. */
  reason?: string;
  /** Who ended it, as Temporal keeps it: an identity such as user@host. */
  by?: string;
  /** In a state: what was asked of it was refused, and nothing was sent. It is started again, and not restarted. */
  refused?: true;
  /** In a state: only the refund window was open. It needs no restart, and is refunded without one. */
  settled?: true;
}

/** Temporal's own words for them, as its lists are filtered by them. */
export const CLOSED_STATUSES = {
  terminated: "Terminated",
  failed: "Failed",
  "timed-out": "TimedOut",
  canceled: "Canceled",
} as const;

export type ClosedStatus = keyof typeof CLOSED_STATUSES;

/** In a sentence: `terminated ("by mistake", user@host)`. */
export function closedInWords({ status, reason, by }: Omit<ClosedRun, "atMs">): string {
  const about = [reason === undefined ? undefined : JSON.stringify(reason), by].filter(Boolean).join(", ");
  return `${status === "timed-out" ? "timed out" : status}${about === "" ? "" : ` (${about})`}`;
}

/** After its subject: `failed ("no such item")`, `was terminated ("by mistake", user@host)`. */
export function endedInWords(closed: Omit<ClosedRun, "atMs">): string {
  const isPassive = closed.status === "terminated" || closed.status === "canceled";
  return `${isPassive ? "was " : ""}${closedInWords(closed)}`;
}

/** In the memo of a run that was restarted: who asked for it, and why, which the run keeps among its decisions. */
export const RESTARTED_MEMO = "restarted";

export interface Restarted {
  note: string;
  by: string;
  /** Unix milliseconds. */
  atMs: number;
  /** Whether the run before may have sent a create request: until the new run knows, nothing is cancelled. */
  sent: boolean;
}

/** What a memo says of a restart: anybody may have written it. */
export function restartedOf(memo: Readonly<Record<string, unknown>> | undefined): Restarted | undefined {
  const value = memo?.[RESTARTED_MEMO];
  if (typeof value !== "object" || value === null) return undefined;
  const { note, by, atMs, sent } = value as Record<string, unknown>;
  return typeof note === "string" && typeof by === "string" && typeof atMs === "number" && typeof sent === "boolean"
    ? { note, by, atMs, sent }
    : undefined;
}
