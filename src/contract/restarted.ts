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
