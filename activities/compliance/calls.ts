import { Context } from "@temporalio/activity";

import {
  type Classification,
  classifyAnswer,
  classifyError,
  type ClassifyOptions,
  ComplianceApiError,
  type ComplianceClient,
  type ComplianceDialect,
  ComplianceInputError,
  type OperationName,
  type Result,
  settingsBehind,
  settingsHint,
  UnexpectedAnswerError,
} from "../../src/compliance/index.ts";
import {
  type CallTarget,
  type ConnectionProfile,
  type InputChecks,
  type PaymentRule,
  type Refusal,
  type SaleDocument,
  withLinesThatFit,
} from "../../src/contract/index.ts";
import type { OddRow } from "../../src/http/read-body.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import type { EarlierRuns } from "../earlier-runs/earlier-runs.ts";
import { afterQuotaMs, backoffMs, deferred, notSent, notServed, transient, unknownKeyed } from "../failure.ts";
import type { Observer } from "../observer.ts";
import type { PollBounds } from "../poll-schedule.ts";
import type { Catalogue } from "./catalogue.ts";
import { type CredentialCircuitBreaker, type KeyCall, KeyHeldError } from "./credential-circuit-breaker.ts";

/** One connection as this process serves it. The key is inside the client and nowhere else. */
export interface ComplianceRuntime {
  profile: ConnectionProfile;
  /** Of businesses that are not alike; each workflow is told its own alone. */
  businessWeights: Readonly<Record<string, number>>;
  inputChecks: InputChecks;
  /** How supplier invoices are held against bill payments, where the reconciliation is not told otherwise. */
  reconcile: { accounting?: string; rule: PaymentRule };
  client: ComplianceClient;
  dialect: ComplianceDialect;
  /** Every call passes it, so that a refused key is tried by one call and not by each. */
  credentialBreaker: CredentialCircuitBreaker;
  catalogue: Catalogue;
  pollBounds: PollBounds;
  /** The list of items is read again when it is this old. */
  catalogueAgeMs: number;
}

export interface ActivityContext {
  connections: ReadonlyMap<string, ComplianceRuntime>;
  ledger: Ledger;
  earlierRuns: Pick<EarlierRuns, "takeOver">;
  observer: Pick<Observer, "note">;
  nowMs: () => number;
  random: () => number;
}

/**
 * @throws ApplicationFailure NotServed: another worker may know the connection, after a change of configuration for
 * example
 */
export function runtimeOf({ connections }: Pick<ActivityContext, "connections">, name: string): ComplianceRuntime {
  const runtime = connections.get(name);
  if (runtime) return runtime;
  throw notServed(notServedMessage({ connections }, name));
}

export function notServedMessage({ connections }: Pick<ActivityContext, "connections">, name: string): string {
  const known = [...connections.keys()].join(", ") || "none";
  return `This worker serves no connection named ${name}; it serves: ${known}.`;
}

/** What one call came to: its meaning, and whichever of answer and error there is. */
export interface ClassifiedCall<Data> {
  meaning: Classification;
  data?: Data;
  /** Rows of a list that are not of their form, and are not in `data`. */
  odd?: readonly OddRow[] | undefined;
  error?: unknown;
  /** `Idempotent-Replayed: true`. */
  replayed: boolean;
  operation: OperationName;
  /** In words, for a person. */
  message: string;
  /** Which settings of the dialect can be behind a refusal, as a sentence to follow the message; empty for none. */
  hint: string;
}

type Classify<Data> = (result: Result<Data>, dialect: ComplianceDialect, options?: ClassifyOptions) => Classification;

/**
 * Makes the call, unless its key is refused at present, and says what it came to. Never throws.
 * @param target for whom: what a key may do can differ from business to business
 * @param classify what an answer means; by default its status alone tells
 */
export async function callAndClassify<Data>(
  runtime: ComplianceRuntime,
  operation: OperationName,
  target: CallTarget,
  call: () => Promise<Result<Data>>,
  classify: Classify<Data> = classifyAnswer,
  options?: ClassifyOptions,
): Promise<ClassifiedCall<Data>> {
  try {
    const result = await runtime.credentialBreaker.pass(keyCallOf(operation, target), call);
    const { status, replayed } = result.meta;
    return {
      meaning: classify(result, runtime.dialect, options),
      data: result.data,
      odd: result.odd,
      replayed,
      operation,
      message: `${operation}: HTTP ${status}`,
      hint: "",
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof KeyHeldError)
      return { meaning: { kind: "configuration" }, error, replayed: false, operation, message, hint: "" };
    const replayed = error instanceof ComplianceApiError && error.replayed;
    const meaning = classifyError(operation, error, runtime.dialect, options);
    return { meaning, error, replayed, operation, message, hint: hintOf(runtime, operation, error) };
  }
}

/** A request that the service does not understand may have been made with names that are not the service's. */
function hintOf({ dialect }: ComplianceRuntime, operation: OperationName, error: unknown): string {
  if (!(error instanceof ComplianceApiError)) return "";
  const { status, apiCode, apiMessage = "", extras } = error;
  const misunderstood = status === 400 || status === 404 || status === 405;
  const isOfTheAuthority = apiCode !== undefined && apiCode === dialect.errors.authorityRejected;
  // What is refused for its content has a document or an item beside it, and stock is refused for what is in it.
  const unexplained =
    status === 422 && operation !== "adjustStock" && !isOfTheAuthority && !extras.seenSale && !extras.seenItem;
  if (!misunderstood && !unexplained) return "";
  const codes = operation === "createCreditNote" && status === 422 ? ["errors.alreadyCredited"] : [];
  return settingsHint([...codes, ...settingsBehind(operation, apiMessage, dialect)]);
}

/**
 * {@link callAndClassify} for an activity that may be repeated.
 * @throws ApplicationFailure where Temporal is to repeat the activity
 */
export async function ask<Data>(
  context: ActivityContext,
  target: CallTarget,
  operation: OperationName,
  call: (runtime: ComplianceRuntime) => Promise<Result<Data>>,
  classify?: Classify<Data>,
  options?: ClassifyOptions,
): Promise<ClassifiedCall<Data>> {
  const runtime = runtimeOf(context, target.connection);
  const classified = await callAndClassify(runtime, operation, target, () => call(runtime), classify, options);
  throwIfRetryable(classified, context.random);
  return classified;
}

/** The document in the answer to a rejected request: it exists, with the status `failed`. */
export function rejectedSale({ meaning, error }: ClassifiedCall<SaleDocument>): SaleDocument | undefined {
  return meaning.kind === "rejected" && error instanceof ComplianceApiError ? error.extras.sale : undefined;
}

/** The same, as a workflow may have it. */
export function rejectedSaleThatFits(classified: ClassifiedCall<SaleDocument>): SaleDocument | undefined {
  const sale = rejectedSale(classified);
  return sale && withLinesThatFit(sale);
}

export function keyCallOf(operation: OperationName, { businessId, retriedAtMs }: CallTarget): KeyCall {
  const { workflowExecution, activityId, currentAttemptScheduledTimestampMs: scheduledAtMs } = Context.current().info;
  return { operation, businessId, caller: workflowExecution?.workflowId ?? activityId, scheduledAtMs, retriedAtMs };
}

/** What a person is needed for. A meaning that this operation cannot have by its table is shown as unexpected. */
export function refusalOf({ meaning, error, operation, message, hint }: ClassifiedCall<unknown>): Refusal {
  const details = errorDetails(error);
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

/** The API's own words about an error, without what a message must not hold (the client has taken that out). */
function errorDetails(error: unknown): Pick<Refusal, "status" | "apiCode" | "details"> {
  if (error instanceof ComplianceInputError) return {};
  if (error instanceof KeyHeldError) {
    const refusalDetails = errorDetails(error.refusal);
    return { ...refusalDetails, details: { ...refusalDetails.details, ...error.evidence } };
  }
  if (error instanceof UnexpectedAnswerError) {
    return { status: error.status, details: { issues: error.issues, bodyExcerpt: error.bodyExcerpt } };
  }
  if (!(error instanceof ComplianceApiError)) return {};
  const { status, apiCode, extras, bodyExcerpt } = error;
  const { errors, branches } = extras;
  const details = {
    ...(errors !== undefined && { errors }),
    ...(branches !== undefined && { branches }),
    ...(bodyExcerpt && { bodyExcerpt }),
  };
  return { status, ...(apiCode !== undefined && { apiCode }), ...(Object.keys(details).length > 0 && { details }) };
}

/** Throws, so that Temporal retries the activity, where the meaning of the answer allows that. Returns otherwise. */
export function throwIfRetryable({ meaning, message }: ClassifiedCall<unknown>, random: () => number): void {
  const attempt = Context.current().info.attempt;
  switch (meaning.kind) {
    case "deferred":
      throw deferred(message, afterQuotaMs(meaning.retryAfterMs, random));
    case "transient":
      throw transient(message, backoffMs(attempt, random));
    case "not-applied":
      throw notSent(message, backoffMs(attempt, random));
    case "unknown-keyed":
      if (meaning.documentId === undefined) throw unknownKeyed(message, backoffMs(attempt, random));
      return;
    default:
      return;
  }
}
