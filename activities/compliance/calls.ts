import { Context } from "@temporalio/activity";

import {
  type Classification,
  classifyAnswer,
  classifyError,
  type ClassifyOptions,
  ComplianceApiError,
  type ComplianceClient,
  type ComplianceDialect,
  type OperationName,
  type OperationsOf,
  type Result,
  type RiskClass,
  settingsHint,
} from "../../src/compliance/index.ts";
import {
  type CallTarget,
  type ComplianceReads,
  type ComplianceWaits,
  type ConnectionProfile,
  type ConvergingWrites,
  type InputChecks,
  type KeyedWrites,
  type PaymentRule,
  type SaleDocument,
  type ServedBusinesses,
  type UnrepeatableWrites,
} from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { type ClassifiedCall, counted, servedIn, type ServiceHealth, throwIfRetryable } from "../classified-call.ts";
import type { Catalogue } from "./catalogue.ts";
import {
  type CredentialCircuitBreaker,
  type KeyCall,
  KeyHeldError,
  KeyReplacedError,
} from "../credential-circuit-breaker.ts";
import type { PollBounds } from "../failure.ts";
import type { Observer } from "../observer.ts";

/** One connection as this process serves it. The key is inside the client and nowhere else. */
export interface ComplianceRuntime {
  profile: ConnectionProfile;
  servedBusinesses: ServedBusinesses;
  inputChecks: InputChecks;
  /** How supplier invoices are compared with bill payments by default. */
  reconcile: { accounting?: string; rule: PaymentRule };
  client: ComplianceClient;
  dialect: ComplianceDialect;
  credentialBreaker: CredentialCircuitBreaker;
  /** One for all connections of an application. */
  health: ServiceHealth;
  catalogue: Catalogue;
  pollBounds: PollBounds;
  catalogueAgeMs: number;
}

export interface ActivityContext {
  connections: ReadonlyMap<string, ComplianceRuntime>;
  ledger: Ledger;
  observer: Pick<Observer, "note">;
  nowMs: () => number;
  random: () => number;
}

/** @throws ApplicationFailure NotServed */
export function runtimeOf({ connections }: Pick<ActivityContext, "connections">, name: string): ComplianceRuntime {
  return servedIn(connections, name);
}

/** The connection to the accounting service that pays the bills of a connection's businesses. */
export function accountingOf({ profile, reconcile }: Pick<ComplianceRuntime, "profile" | "reconcile">): string {
  return reconcile.accounting ?? profile.connection;
}

type CallsOf<Activities, Class extends RiskClass> = Readonly<Record<keyof Activities, OperationsOf<Class>>>;

/**
 * The operation that each activity calls. By its interface an activity has its options in `workflows/proxies.ts`: so the
 * risk class of the operation must be the interface's.
 */
const OPERATION_OF = {
  readItems: "listItems",
  readBranch: "listBusinesses",
  readDocument: "getSale",
  keepDocument: "getSale",
  planRegistrations: "listItems",
  pullPurchases: "pullPurchases",
  keepPurchasesPage: "listPurchases",
  reconcileDocument: "getSale",
  awaitItems: "listItems",
  awaitDocument: "getSale",
  awaitService: "listBusinesses",
  registerItem: "registerItem",
  retryDocument: "retrySale",
  createSale: "createSale",
  createCreditNote: "createCreditNote",
  adjustStock: "adjustStock",
} as const satisfies CallsOf<ComplianceReads & ComplianceWaits, "read"> &
  CallsOf<ConvergingWrites, "convergingWrite"> &
  CallsOf<KeyedWrites, "keyedWrite"> &
  CallsOf<Omit<UnrepeatableWrites, keyof KeyedWrites>, "unrepeatableWrite">;

type Classify<Data> = (result: Result<Data>, dialect: ComplianceDialect, options?: ClassifyOptions) => Classification;

/**
 * Makes the call of an activity, unless its key is refused at present, and says what it came to. Never throws.
 * @param classify default: the status alone tells
 */
export async function callAndClassify<Data>(
  runtime: ComplianceRuntime,
  activity: keyof typeof OPERATION_OF,
  target: CallTarget,
  call: () => Promise<Result<Data>>,
  classify: Classify<Data> = classifyAnswer,
  options?: ClassifyOptions,
): Promise<ClassifiedCall<Data>> {
  const classified = await classifiedCall(runtime, OPERATION_OF[activity], target, call, classify, options);
  return counted("compliance", runtime.profile.connection, classified);
}

async function classifiedCall<Data>(
  runtime: ComplianceRuntime,
  operation: OperationName,
  target: CallTarget,
  call: () => Promise<Result<Data>>,
  classify: Classify<Data>,
  options: ClassifyOptions | undefined,
): Promise<ClassifiedCall<Data>> {
  try {
    const result = await runtime.credentialBreaker.pass(keyCallOf(operation, target), call);
    runtime.health.served();
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
    if (error instanceof KeyReplacedError)
      return { meaning: { kind: "deferred", retryAfterMs: 0 }, error, replayed: false, operation, message, hint: "" };
    if (error instanceof KeyHeldError)
      return { meaning: { kind: "configuration" }, error, replayed: false, operation, message, hint: "" };
    await runtime.health.failed(error, Context.current().info.attempt);
    const { trouble } = runtime.health;
    const replayed = error instanceof ComplianceApiError && error.meta.replayed;
    const meaning = classifyError(operation, error, runtime.dialect, options);
    return { meaning, error, replayed, operation, message, trouble, hint: hintOf(runtime, operation, target, error) };
  }
}

/** A request that the service does not understand may have been made with names that are not the service's. */
function hintOf(runtime: ComplianceRuntime, operation: OperationName, target: CallTarget, error: unknown): string {
  if (!(error instanceof ComplianceApiError)) return "";
  const { status, apiCode, extras } = error;
  const misunderstood = status === 400 || status === 404 || status === 405;
  const isOfTheAuthority = apiCode !== undefined && apiCode === runtime.dialect.errors.authorityRejected;
  // What is refused for its content has a document or an item beside it, and stock is refused for what is in it.
  const unexplained =
    status === 422 && operation !== "adjustStock" && !isOfTheAuthority && !extras.seenSale && !extras.seenItem;
  if (!misunderstood && !unexplained) return "";
  const codes = operation === "createCreditNote" && status === 422 ? ["errors.alreadyCredited"] : [];
  const business = status === 404 ? businessHint(runtime, operation, target) : "";
  return `${business}${settingsHint(operation, codes)}`;
}

/** The calls with which something begins: what follows them has a business that there is. */
const FIRST_CALLS: readonly OperationName[] = ["listItems", "createSale", "listPurchases", "pullPurchases"];

/** Which of the ids is not there a 404 does not say (Fiscal Compliance API, "Errors"). */
function businessHint(runtime: ComplianceRuntime, operation: OperationName, target: CallTarget): string {
  if (FIRST_CALLS.includes(operation)) return ifMistyped(runtime, target);
  const { businessId } = target;
  // A document that is adopted, or one that an operator has named by a mistyped id.
  return operation === "getSale" && businessId !== undefined ? ` It was asked for the business "${businessId}".` : "";
}

/** Nobody names the business to which a key is bound but the configuration. */
export function ifMistyped({ profile }: ComplianceRuntime, { businessId }: CallTarget): string {
  return profile.keyReach === "organisation" && businessId !== undefined
    ? ` If the business "${businessId}" is mistyped, cancel this, and start it again with the right one.`
    : "";
}

/** @throws ApplicationFailure where Temporal is to repeat the activity */
export async function ask<Data>(
  context: ActivityContext,
  target: CallTarget,
  activity: keyof typeof OPERATION_OF,
  call: (runtime: ComplianceRuntime) => Promise<Result<Data>>,
  classify?: Classify<Data>,
  options?: ClassifyOptions,
): Promise<ClassifiedCall<Data>> {
  const runtime = runtimeOf(context, target.connection);
  const classified = await callAndClassify(runtime, activity, target, () => call(runtime), classify, options);
  throwIfRetryable(classified, context.random);
  return classified;
}

/** The document in the answer to a rejected request: it exists, with the status `failed`. */
export function rejectedSale({ meaning, error }: ClassifiedCall<SaleDocument>): SaleDocument | undefined {
  return meaning.kind === "rejected" && error instanceof ComplianceApiError ? error.extras.sale : undefined;
}

export function keyCallOf(operation: OperationName, { businessId, retriedAtMs }: CallTarget): KeyCall {
  const { workflowExecution, activityId, currentAttemptScheduledTimestampMs: scheduledAtMs } = Context.current().info;
  return { operation, businessId, caller: workflowExecution?.workflowId ?? activityId, scheduledAtMs, retriedAtMs };
}
