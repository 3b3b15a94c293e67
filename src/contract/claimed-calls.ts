import type { Deferred, OperatorDecision, Refusal } from "./calls.ts";

/**
 * What the calls have in common that are sent at most once, a stock movement and a sync batch: each try is claimed in
 * the ledger before it is sent, and settled after (docs/architecture.md, "At most once").
 */

/** One try, as its claim knows it. */
export interface ClaimedTry {
  /** Counts from 1 the tries that were allowed to leave. */
  generation: number;
  /** Names this try, whichever run makes it. */
  token: string;
  /**
   * Executions of this try that ended without sending, and could not see whether the ledger had taken the claim for
   * them: held by one of these, it is free for the next execution.
   */
  unsent?: string[];
}

/**
 * Who takes a claim in order to send: one execution of an activity's code. Temporal makes another one of the same
 * activity whenever it has lost the first, or an operator asks for it (more attempts, unpause, reset).
 */
export interface TakingExecution {
  execution: string;
  /** For so long, from when it asks for the claim, its request may leave and be answered (milliseconds). */
  underWayForMs: number;
}

/** The outcome is known, but could not be written into its claim. */
export interface Unsettled {
  unsettled?: true;
}

/** Sent by nobody else meanwhile: an earlier execution may still be at it, and its claim says in the end what it came to. */
export interface CallUnderWay {
  kind: "under-way";
  message: string;
}

/** Whether it was carried out is not known. */
export interface UnknownOutcome {
  kind: "unknown";
  message: string;
  evidence: Record<string, unknown>;
  /** Which try it is, where the claim says so: an earlier run may have got further than the one that asks. */
  generation?: number;
}

/** That try, and all before it, are known not to have been carried out: the next one may be sent. */
export interface SupersededTry {
  kind: "superseded";
  generation: number;
  /** Where an operator has decided so. */
  word?: OperatorDecision | undefined;
}

/**
 * `sameTry`: this try has not left, and is asked for again. `execution`: the claim may be held for this one, which has
 * ended.
 */
export type DeferredTry = Deferred & Unsettled & { sameTry?: true; execution?: string };

/** Certainly not carried out: not sent, or refused, as the service says. */
export type NotDone<Kind extends string> = DeferredTry | ({ kind: Kind; refusal: Refusal } & Unsettled);

/** `putOff`: it is asked for again without a person. */
export interface NotDoneOutcome<Kind extends string> {
  kind: Kind;
  message: string;
  putOff?: true;
}

/** What is written into the claim of a try that was certainly not carried out. */
export function notDoneOutcome<Kind extends string>(kind: Kind, result: NotDone<Kind>): NotDoneOutcome<Kind> {
  return "refusal" in result
    ? { kind, message: result.refusal.message }
    : { kind, message: result.message, putOff: true };
}
