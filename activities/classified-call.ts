/**
 * What the activities of both services share: what an answer means for Temporal, refused keys, observations; and the
 * activities of the accounting service (`accounting.ts`) and of the ledger (`ledger.ts`). Settings, request budgets and
 * callback URLs are none of theirs: `src/worker/runtimes.ts` makes the clients with them, and hands those in.
 *
 * Stands on: `activities/compliance`, `src/accounting`, `src/compliance`, `src/contract`, `src/http`, `src/ledger`.
 */
import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";

import type { AccountingMeaning } from "../src/accounting/index.ts";
import type { Classification } from "../src/compliance/index.ts";
import {
  type CallUnderWay,
  type Deferred,
  type NotDone,
  type NotDoneOutcome,
  notDoneOutcome,
  type Refusal,
  type ServiceTrouble,
  type TakingExecution,
  type UnknownOutcome,
  type Unsettled,
} from "../src/contract/index.ts";
import { Deadline } from "../src/http/deadline.ts";
import { isOwnDoing, saysAway, TransportError } from "../src/http/errors.ts";
import { AnswerError } from "../src/http/service-call.ts";
import type { OddRow } from "../src/http/read-body.ts";
import { LedgerUnavailableError, type UnderWay } from "../src/ledger/index.ts";
import { KeyHeldError } from "./credential-circuit-breaker.ts";
import { afterQuotaMs, afterTroubleMs, backoffMs, LONGEST_PAUSE_MS, retryAfter } from "./failure.ts";

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
  message: string;
  trouble?: ServiceTrouble | undefined;
  /** Which settings of the dialect can be behind a refusal, as a sentence to follow the message; empty for none. */
  hint: string;
}

export type AnyCall<Data = unknown> = ClassifiedCall<Data, Classification | AccountingMeaning>;

/**
 * Counts it, unless this process itself kept it back (docs/monitoring.md). Labels come from closed lists, since each
 * value is a time series.
 */
export function counted<Call extends AnyCall>(
  service: "compliance" | "accounting",
  connection: string,
  call: Call,
): Call {
  const { operation, meaning } = call;
  if (wasKeptBack(call.error)) return call;
  Context.current()
    .metricMeter.createCounter("fiscalflow_calls", undefined, "calls to a service, by what they came to")
    .add(1, { service, connection, operation, outcome: meaning.kind });
  return call;
}

/** By the key's circuit breaker, the request budget, or its own deadline: nobody was asked. */
function wasKeptBack(error: unknown): boolean {
  if (error instanceof KeyHeldError) return true;
  return error instanceof TransportError && (error.code === "held-back" || error.code === "too-late");
}

/** @throws ApplicationFailure NotServed: another worker may know the connection, after a change of configuration */
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

/** Throws, so that Temporal retries the activity, if the meaning of the answer allows that. Returns otherwise. */
export function throwIfRetryable({ meaning, message, trouble, error }: AnyCall, random: () => number): void {
  const attempt = Context.current().info.attempt;
  const pauseMs = (): number => afterTroubleMs(backoffMs(attempt, random), error, random);
  switch (meaning.kind) {
    case "deferred":
      throw retryAfter("Deferred", message, afterQuotaMs(meaning.retryAfterMs, random), trouble);
    case "transient":
      throw retryAfter("Transient", message, pauseMs(), trouble);
    case "not-applied":
      throw retryAfter("NotSent", message, pauseMs(), trouble);
    case "unknown-keyed":
      if (meaning.documentId === undefined) throw retryAfter("UnknownKeyed", message, pauseMs(), trouble);
      return;
    default:
      return;
  }
}

interface Taken {
  kind: "taken";
}

/** A call that is sent at most once. `Not` is the kind of the answer for one that was certainly not carried out. */
interface ClaimedCall<Known, Data, Done, Not extends string> {
  callTimeoutMs: number;
  /** Anything but `taken` is known of it already, and nothing is sent. */
  take: (by: TakingExecution) => Promise<Taken | UnderWay | Known>;
  /** Cancelling the activity does not abort it: an aborted request would be one more unknown outcome. */
  send: (sendBefore: Deadline) => Promise<AnyCall<Data>>;
  done: (data: Data, meaning: AnyCall["meaning"], sentAtMs: number) => Done;
  not: Not;
  settle: (outcome: Done | NotDoneOutcome<Not>) => Promise<unknown>;
  ended: (by: Pick<TakingExecution, "execution">) => Promise<void>;
}

/** After it this attempt sends nothing: its call would outlast the attempt. By this process's own clocks. */
export function lastMomentToSend(callTimeoutMs: number): Deadline {
  return new Deadline(Context.current().info.startToCloseTimeoutMs - callTimeoutMs);
}

/**
 * Takes the claim, sends, and settles the claim with the outcome (docs/architecture.md, "At most once"). Whatever is
 * known is a result, since a failed activity reads as a lost answer.
 */
export async function claimedCall<Known extends { kind: string }, Data, Done extends object, Not extends string>(
  { nowMs, random }: { nowMs: () => number; random: () => number },
  { callTimeoutMs, take, send, done, not, settle, ended }: ClaimedCall<Known, Data, Done, Not>,
): Promise<Known | CallUnderWay | UnknownOutcome | (Done & Unsettled) | NotDone<Not>> {
  const sendBefore = lastMomentToSend(callTimeoutMs);
  const execution = randomUUID();
  // What is settled has ended too. Otherwise a reader of the claim would wait until its time is over.
  let isSettled = false;
  const settled = async (outcome: Done | NotDoneOutcome<Not>): Promise<Unsettled> => {
    const unsettled = await written(() => settle(outcome));
    isSettled = unsettled.unsettled !== true;
    return unsettled;
  };
  const by = { execution, underWayForMs: sendBefore.leftMs + callTimeoutMs, scheduledAtMs: scheduledAtMs() };
  const taken = await claimOrDeferred(
    () => take(by),
    () => ended({ execution }),
  );
  // Without a claim nothing leaves, and the same try is asked for again.
  if (isDeferred(taken)) return { ...taken, sameTry: true, execution };
  if (isUnderWay(taken)) return { kind: "in-progress", message: stillUnderWay(taken) };
  if (!isTaken(taken)) return taken;
  try {
    const sentAtMs = nowMs();
    const classified = await send(sendBefore);
    const { data, meaning, message, error } = classified;
    if (data !== undefined) {
      const result = done(data, meaning, sentAtMs);
      return { ...result, ...(await settled(result)) };
    }
    const result = notDone(classified, not, random);
    if (!result) return { kind: "unknown", message, evidence: { sentAtMs, ...cameBack(error) } };
    return { ...result, ...(await settled(notDoneOutcome(not, result))) };
  } finally {
    if (!isSettled) await ended({ execution }).catch(() => undefined);
  }
}

/**
 * `deferred` if the ledger is away: without a claim nothing leaves.
 * @param ended called if the claim fails, since it may be written all the same
 */
export async function claimOrDeferred<Claimed>(
  claim: () => Promise<Claimed>,
  ended: () => Promise<void>,
): Promise<Claimed | Deferred> {
  try {
    return await claim();
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return { kind: "deferred", waitFor: "ledger", message: error.message };
    await ended().catch(() => undefined);
    throw error;
  }
}

/** When Temporal was first asked for the activity, by its clock. */
export function scheduledAtMs(): number {
  return Context.current().info.scheduledTimestampMs;
}

/** The run that the activity works for, as a row keeps it. */
export function currentWriter(): { workflowId: string; runId: string } {
  const { workflowExecution } = Context.current().info;
  return { workflowId: workflowExecution?.workflowId ?? "no workflow", runId: workflowExecution?.runId ?? "unknown" };
}

export function isUnderWay(answer: { kind: string }): answer is UnderWay {
  return answer.kind === "in-progress";
}

/** Somebody has ended its activity, or reset its run, and its worker may still be at it. */
export function stillUnderWay({ forMs }: UnderWay): string {
  return `An earlier attempt may still be at this call for ${Math.ceil(forMs / 1_000)} s.`;
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

/** The answer is the caller's also if it cannot be written down. */
async function written(settle: () => Promise<unknown>): Promise<Unsettled> {
  try {
    await settle();
    return {};
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return { unsettled: true };
    throw error;
  }
}

/** What the last attempt of the failing call, before this process, has said of the same trouble. Never throws. */
export type SeenBefore = (trouble: Pick<ServiceTrouble, "kind" | "service">) => Promise<ServiceTrouble | undefined>;

const MOST_QUESTIONS = 10;

/**
 * Whether a service serves the calls of one application, or of one accounting connection, as this process has seen it,
 * and since when not. Any answer that is neither a 5xx nor a 429 shows that it does.
 */
export class ServiceHealth {
  readonly #nowMs: () => number;
  readonly #seenBefore: SeenBefore;
  readonly #service: Pick<ServiceTrouble, "service">;
  #answered = false;
  #questions = 0;
  #trouble: ServiceTrouble | undefined;

  constructor(nowMs: () => number, seenBefore: SeenBefore, service?: "accounting") {
    this.#nowMs = nowMs;
    this.#seenBefore = seenBefore;
    this.#service = { ...(service && { service }) };
  }

  get trouble(): ServiceTrouble | undefined {
    return this.#trouble;
  }

  served(): void {
    this.#answered = true;
    this.#trouble = undefined;
  }

  async failed(error: unknown, attempt: number): Promise<void> {
    this.#saw(seenIn(error));
    const met = this.#trouble;
    if (met?.orEarlier !== true || attempt === 1 || this.#questions >= MOST_QUESTIONS) return;
    this.#questions += 1;
    const before = await this.#seenBefore(met);
    // Others may have been answered meanwhile, or have asked too.
    const now = this.#trouble;
    if (before && now?.orEarlier && now.kind === met.kind && before.sinceMs < now.sinceMs) this.#trouble = before;
  }

  #saw(seen: Seen | undefined): void {
    if (seen === "served") this.served();
    if (seen === "served" || seen === undefined || this.#trouble?.kind === seen) return;
    // The budget keeps calls back for what an answer has shown, too.
    if (seen === "held-back" && this.#trouble) return;
    // A service that was away until now has not limited rates before.
    const orEarlier = !this.#answered && this.#trouble?.kind !== "away" && ({ orEarlier: true } as const);
    this.#trouble = { kind: seen, ...this.#service, sinceMs: this.#nowMs(), ...orEarlier };
    if (seen === "rate-limited") this.#answered = true;
  }
}

type Seen = "served" | "away" | "rate-limited" | "held-back";

/** Undefined if the error says nothing of the service: the key is held, or the caller gave up, or came too late. */
function seenIn(error: unknown): Seen | undefined {
  const status = statusOf(error);
  if (status === 429) return "rate-limited";
  if (status !== undefined) return saysAway(status) ? "away" : "served";
  if (!(error instanceof TransportError) || isOwnDoing(error)) return undefined;
  return error.code === "held-back" ? "held-back" : "away";
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof AnswerError) return error.status;
  return error instanceof TransportError ? error.answered?.status : undefined;
}
