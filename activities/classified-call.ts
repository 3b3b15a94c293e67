import { Context } from "@temporalio/activity";

import type { AccountingMeaning } from "../src/accounting/index.ts";
import type { Classification } from "../src/compliance/index.ts";
import type { Refusal, ServiceTrouble } from "../src/contract/index.ts";
import { AnswerError, TransportError } from "../src/http/errors.ts";
import type { OddRow } from "../src/http/read-body.ts";
import { KeyHeldError } from "./compliance/credential-circuit-breaker.ts";
import { afterQuotaMs, backoffMs, LONGEST_PAUSE_MS, retryAfter } from "./failure.ts";

/** What one call to a service came to: its meaning, and whichever of answer and error there is. */
export interface ClassifiedCall<Data, Meaning = Classification> {
  meaning: Meaning;
  data?: Data;
  /** Rows of a list that are not of their form, and are not in `data`. */
  odd?: readonly OddRow[] | undefined;
  error?: unknown;
  /** `Idempotent-Replayed: true`. */
  replayed: boolean;
  operation: string;
  /** In words, for an operator. */
  message: string;
  /** What is wrong with the service, where it does not serve calls at present. */
  trouble?: ServiceTrouble | undefined;
  /** Which settings of the dialect can be behind a refusal, as a sentence to follow the message; empty for none. */
  hint: string;
}

export type AnyCall<Data = unknown> = ClassifiedCall<Data, Classification | AccountingMeaning>;

/**
 * What this process needs to serve a connection.
 * @throws ApplicationFailure NotServed: another worker may know the connection, after a change of configuration for
 * example
 */
export function servedIn<Runtime>(connections: ReadonlyMap<string, Runtime>, name: string): Runtime {
  const runtime = connections.get(name);
  if (runtime) return runtime;
  throw retryAfter("NotServed", notServedMessage(connections, name), LONGEST_PAUSE_MS);
}

export function notServedMessage(connections: ReadonlyMap<string, unknown>, name: string): string {
  const known = [...connections.keys()].join(", ") || "none";
  return `This worker serves no connection named ${name}; it serves: ${known}.`;
}

/** What an operator is needed for. A meaning that this operation cannot have by its table is shown as unexpected. */
export function refusalOf({ meaning, error, operation, message, hint }: AnyCall): Refusal {
  const details = answerDetailsIn(error);
  switch (meaning.kind) {
    case "configuration":
      return { kind: "refused", attention: "credentials", message, operation, ...details };
    case "refused":
      return { kind: "refused", attention: meaning.attention, message: sentence(message, hint), ...details };
    case "unexpected":
      return { kind: "refused", attention: "unexpected-answer", message: sentence(message, hint), ...details };
    default:
      return { kind: "refused", attention: "unexpected-answer", message: `${message} (${meaning.kind})` };
  }
}

export function sentence(message: string, hint: string): string {
  return hint === "" ? message : `${message.replace(/\.$/, "")}.${hint}`;
}

/** The service's own words about an error. */
function answerDetailsIn(error: unknown): Pick<Refusal, "status" | "apiCode" | "details"> {
  if (error instanceof KeyHeldError) {
    const refused = answerDetailsIn(error.refusal);
    return { ...refused, details: { ...refused.details, ...error.evidence } };
  }
  if (!(error instanceof AnswerError)) return {};
  const { status, apiCode, evidence: details } = error;
  return { status, ...(apiCode !== undefined && { apiCode }), ...(Object.keys(details).length > 0 && { details }) };
}

/** What came back of a write whose outcome is unknown, as evidence for an operator. */
export function cameBack(error: unknown): Record<string, unknown> {
  if (error instanceof TransportError) return { cameBack: error.code };
  if (error instanceof AnswerError) return { cameBack: `HTTP ${error.status}`, ...error.evidence };
  return { cameBack: error instanceof Error ? error.name : "nothing" };
}

/** Throws, so that Temporal retries the activity, where the meaning of the answer allows that. Returns otherwise. */
export function throwIfRetryable({ meaning, message, trouble }: AnyCall, random: () => number): void {
  const attempt = Context.current().info.attempt;
  switch (meaning.kind) {
    case "deferred":
      throw retryAfter("Deferred", message, afterQuotaMs(meaning.retryAfterMs, random), trouble);
    case "transient":
      throw retryAfter("Transient", message, backoffMs(attempt, random), trouble);
    case "not-applied":
      throw retryAfter("NotSent", message, backoffMs(attempt, random), trouble);
    case "unknown-keyed":
      if (meaning.documentId === undefined)
        throw retryAfter("UnknownKeyed", message, backoffMs(attempt, random), trouble);
      return;
    default:
      return;
  }
}
