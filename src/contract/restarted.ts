import type { Decision } from "./attention.ts";
import type { Refund } from "./sale.ts";

/**
 * In the memo of a run that was restarted: who asked for it, and why, which the run keeps among its decisions; and what
 * people had asked of the run before, which no claim in the ledger knows.
 */
export const RESTARTED_MEMO = "restarted";

export interface Restarted {
  note: string;
  by: string;
  /** Unix milliseconds. */
  atMs: number;
  /** Whether the run before may have sent a create request: until the new run knows, nothing is cancelled. */
  sent: boolean;
  /** Whether the document is known to be signed: then nothing can be cancelled any more. */
  signed?: true;
  /** Null: it was given up, whatever the ledger says. */
  refund?: Refund | null;
  cancelRequested?: string;
  /** Of the credit note that it was issuing. */
  creditNoteCancelRequested?: string;
  /** Who asked for that, where it is known, and when. */
  cancelWord?: Pick<Decision, "by" | "atMs">;
}

/** What a memo says of a restart: anybody may have written it. */
export function restartedOf(memo: Readonly<Record<string, unknown>> | undefined): Restarted | undefined {
  const value = memo?.[RESTARTED_MEMO];
  if (typeof value !== "object" || value === null) return undefined;
  const { note, by, atMs, sent, cancelWord, ...wishes } = value as Record<string, unknown>;
  const { cancelRequested, creditNoteCancelRequested } = wishes;
  if (typeof note !== "string" || typeof by !== "string" || typeof atMs !== "number" || typeof sent !== "boolean")
    return undefined;
  for (const wish of [cancelRequested, creditNoteCancelRequested])
    if (wish !== undefined && typeof wish !== "string") return undefined;
  if (cancelWord !== undefined && !isWord(cancelWord)) return undefined;
  return value as Restarted;
}

function isWord(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { by, atMs } = value as Record<string, unknown>;
  return typeof atMs === "number" && (by === undefined || typeof by === "string");
}
