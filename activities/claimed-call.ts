import { type Deferred, type NotDone, type UnknownOutcome, type Unsettled, whyNotDone } from "../src/contract/index.ts";
import { LedgerUnavailableError } from "../src/ledger/index.ts";
import { type AnyCall, cameBack, refusalOf } from "./classified-call.ts";
import { claimOrDeferred } from "./earlier-runs/earlier-runs.ts";
import { afterQuotaMs } from "./failure.ts";

interface Taken {
  kind: "taken";
}

/** A call that is sent at most once. `Not` is the contract's word for one that was certainly not carried out. */
interface ClaimedCall<Known, Data, Done, Not extends string> {
  /** Anything but `taken` is known of it already, and nothing is sent. */
  take: () => Promise<Taken | Known>;
  /** Cancelling the activity does not abort it: an aborted request would be one more unknown outcome. */
  send: () => Promise<AnyCall<Data>>;
  done: (data: Data, meaning: AnyCall["meaning"], sentAtMs: number) => Done;
  not: Not;
  settle: (outcome: Done | { kind: Not; message: string }) => Promise<unknown>;
}

/**
 * Takes the claim, sends, and settles the claim with the outcome (docs/architecture.md, "At most once"). No other
 * activity, of this run or of another one, sends the call while the claim stands. Whatever is known is a result and not
 * a failure, since a failed activity reads as a lost answer.
 */
export async function claimedCall<Known extends { kind: string }, Data, Done extends object, Not extends string>(
  { nowMs, random }: { nowMs: () => number; random: () => number },
  { take, send, done, not, settle }: ClaimedCall<Known, Data, Done, Not>,
): Promise<Known | UnknownOutcome | (Done & Unsettled) | NotDone<Not>> {
  const taken = await claimOrDeferred(take);
  // Without a claim nothing leaves, and the same try is asked for again.
  if (isDeferred(taken)) return { ...taken, sameTry: true };
  if (!isTaken(taken)) return taken;
  const sentAtMs = nowMs();
  const classified = await send();
  const { data, meaning, message, error } = classified;
  if (data !== undefined) {
    const result = done(data, meaning, sentAtMs);
    return { ...result, ...(await written(() => settle(result))) };
  }
  const result = notDone(classified, not, random);
  if (!result) return { kind: "unknown", message, evidence: { sentAtMs, ...cameBack(error) } };
  return { ...result, ...(await written(() => settle({ kind: not, message: whyNotDone(result) }))) };
}

function isDeferred(answer: { kind: string }): answer is Deferred {
  return answer.kind === "deferred";
}

function isTaken(answer: { kind: string }): answer is Taken {
  return answer.kind === "taken";
}

/** Undefined: it may have been carried out. */
function notDone<Not extends string>(call: AnyCall, not: Not, random: () => number): NotDone<Not> | undefined {
  const { meaning, message, trouble } = call;
  switch (meaning.kind) {
    case "deferred":
      return { kind: "deferred", retryAfterMs: afterQuotaMs(meaning.retryAfterMs, random), message, trouble };
    case "not-applied":
      return { kind: "deferred", message, trouble };
    case "configuration":
    case "refused":
      return { kind: not, refusal: refusalOf(call) };
    default:
      return undefined;
  }
}

/** The answer is the caller's also where it cannot be written down. */
async function written(settle: () => Promise<unknown>): Promise<Unsettled> {
  try {
    await settle();
    return {};
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return { unsettled: true };
    throw error;
  }
}
