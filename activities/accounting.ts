import { Context } from "@temporalio/activity";

import {
  AccountingApiError,
  type AccountingClient,
  type AccountingDialect,
  type AccountingMeaning,
  type AccountingOperationName,
  type AccountingResult,
  type BillPaymentsPage,
  classifyAccountingError,
  type ListBillPaymentsInput,
} from "../src/accounting/index.ts";
import {
  type AccountingActivities,
  type AccountingProfile,
  type BillPayment,
  LARGEST_BILL_PAYMENT_PAGE,
  type Refusal,
} from "../src/contract/index.ts";
import type { Ledger } from "../src/ledger/index.ts";
import {
  claimedCall,
  type ClassifiedCall,
  counted,
  currentWriter,
  notServedMessage,
  refusalOf,
  servedIn,
  type ServiceHealth,
  throwIfRetryable,
} from "./classified-call.ts";
import { KeyReplacedError, type PresentKey } from "./credential-circuit-breaker.ts";
import { afterTroubleMs, standingNow, stillWaiting } from "./failure.ts";
import { keepRows, type Observer } from "./observer.ts";

/** One accounting connection as this process serves it. Key and secret are inside the client and nowhere else. */
export interface AccountingRuntime {
  profile: AccountingProfile;
  client: AccountingClient;
  dialect: AccountingDialect;
  keyWatch: KeyStandingWatch;
  /** The key and the client secret, as one. */
  key: PresentKey;
  health: ServiceHealth;
}

export interface KeyStandingWatch {
  refused: (operation: string, status: number) => void;
  /** Something still waits for an operation that the key was refused. */
  awaited: (operation: string) => void;
  works: (operation: string) => void;
}

export interface AccountingContext {
  accounting: ReadonlyMap<string, AccountingRuntime>;
  ledger: Ledger;
  observer: Pick<Observer, "note">;
  nowMs: () => number;
  random: () => number;
}

/** Makes the call, and says what it came to. Never throws. */
async function callAndClassify<Data>(
  runtime: AccountingRuntime,
  operation: AccountingOperationName,
  call: () => Promise<AccountingResult<Data>>,
): Promise<ClassifiedCall<Data, AccountingMeaning>> {
  return counted("accounting", runtime.profile.connection, await classifiedCall(runtime, operation, call));
}

async function classifiedCall<Data>(
  { keyWatch, key, health }: AccountingRuntime,
  operation: AccountingOperationName,
  call: () => Promise<AccountingResult<Data>>,
): Promise<ClassifiedCall<Data, AccountingMeaning>> {
  const common = { replayed: false, operation, hint: "" };
  const { version } = key;
  try {
    const { data, odd } = await call();
    keyWatch.works(operation);
    health.served();
    return { ...common, meaning: { kind: "ok" }, data, odd, message: operation };
  } catch (thrown) {
    const error = judgedByPresentKey(thrown, operation, version, key);
    if (error instanceof KeyReplacedError)
      return { ...common, meaning: { kind: "deferred", retryAfterMs: 0 }, error, message: error.message };
    await health.failed(error, Context.current().info.attempt);
    const { trouble } = health;
    const meaning = classifyAccountingError(operation, error);
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof AccountingApiError)) return { ...common, meaning, error, message, trouble };
    if (meaning.kind === "configuration") keyWatch.refused(operation, error.status);
    return { ...common, meaning, error, message, trouble, hint: operation === "listBillPayments" ? HINT : "" };
  }
}

/** A 401 says nothing of a key that is in use no longer. */
function judgedByPresentKey(
  error: unknown,
  operation: string,
  version: PresentKey["version"],
  key: PresentKey,
): unknown {
  if (!(error instanceof AccountingApiError) || error.status !== 401) return error;
  key.readAgain();
  return key.version === version ? error : new KeyReplacedError(operation, error);
}

/** The names of the inputs are not shown (Accounting Service, "GET /bill-payments"). */
const HINT =
  " The accounting service's document does not show the names of the inputs: if it uses other ones, set billPayments.page, billPayments.limit, " +
  "billPayments.status, billPayments.sortBy or billPayments.sortDirection in ACCOUNTING_DIALECT.";

/** The latest changes first: what changes while the list is read comes before what was read. */
const ORDER = { sortBy: "updatedAt", sortDirection: "desc" } as const;

/** Enough that a payment which goes its way between two looks does not stand for the list. */
const SAMPLE = 10;

/** The activities of an accounting connection's task queue: one HTTP request each, at most. */
export function createAccountingActivities(context: AccountingContext): AccountingActivities {
  const { ledger, random } = context;
  const { syncBatches } = ledger;
  async function list(runtime: AccountingRuntime, asked: ListBillPaymentsInput) {
    const classified = await callAndClassify(runtime, "listBillPayments", () => runtime.client.listBillPayments(asked));
    throwIfRetryable(classified, random);
    const { data, odd = [] } = classified;
    return data ? { data, odd } : refusalOf(classified);
  }

  return {
    async keepBillPaymentsPage(request) {
      const runtime = servedIn(context.accounting, request.connection);
      const { connection, status, cursor = "1", knownUntilMs } = request;
      const page = Number(cursor);
      // A page that could not be kept is not asked for: its call would be wasted.
      const askedAtMs = await ledger.billPayments.now();
      const sent = LARGEST_BILL_PAYMENT_PAGE;
      const listed = await list(runtime, { page, limit: sent, status, ...ORDER });
      if (!("data" in listed)) {
        // Rows were removed since the page before it was read: what the service answers then is not shown (a page without
        // rows, its last one, or 404). Each is the end of the list, and of no concern to an operator.
        const isGone = listed.attention === "not-found" && page > 1;
        const end = { rows: 0, added: 0, changed: 0, known: false, nextCursor: null, askedAtMs };
        if (!isGone) return listed;
        // A 404 of something in between looks the same, and known ground would cover what is behind that page. The counts
        // of a sweep show that it has missed rows; of one that ends at known ground they do not show the changed ones, so
        // it begins its pass anew, as where a cursor is refused.
        return knownUntilMs === undefined ? { kind: "page", ...end } : { ...listed, attention: "invalid-request" };
      }
      const { odd, data } = listed;
      const strange = notWhatWasAsked(data, page);
      if (strange) return strange;
      const { billPayments: entries, total, limit: answered } = data;
      const where = { service: "accounting", connection } as const;
      const size = { answered, sent, setting: "billPayments.limit", name: runtime.dialect.billPayments.limit };
      const dates = { field: "date", of: ({ date }: BillPayment) => date };
      const nextCursor = data.hasNextPage && entries.length + odd.length > 0 ? String(page + 1) : null;
      const given = { where, list: "bill payments", entries, odd, size, dates, askedAtMs, nextCursor, total } as const;
      return await keepRows(context.observer, given, (rows) =>
        ledger.billPayments.keepPage({ connection, status, knownUntilMs, ...rows }),
      );
    },

    async sampleBillPayments({ connection, status }) {
      const runtime = servedIn(context.accounting, connection);
      const listed = await list(runtime, { page: 1, limit: SAMPLE, status, ...ORDER });
      if (!("data" in listed)) return listed;
      return { kind: "sample", ids: listed.data.billPayments.slice(0, SAMPLE).map(({ id }) => id) };
    },

    /** A batch is sent at most once for each claim, so nothing here throws in order to be repeated. */
    async processSyncBatch(request) {
      const runtime = context.accounting.get(request.connection);
      // Nothing was sent, and only a result says so: a failure would be one more unknown outcome.
      if (!runtime)
        return { kind: "deferred", sameTry: true, message: notServedMessage(context.accounting, request.connection) };
      const claim = { ...request, writer: currentWriter() };
      return await claimedCall(context, {
        callTimeoutMs: runtime.profile.callTimeoutMs,
        take: (by) => syncBatches.take({ ...claim, ...by, nowMs: context.nowMs() }),
        send: (sendBefore) =>
          callAndClassify(runtime, "processSyncBatch", () =>
            runtime.client.processSyncBatch(request.syncBatchId, { sendBefore }),
          ),
        done: ({ message }) => ({ kind: "processed" as const, message }),
        not: "not-processed",
        settle: (outcome) => syncBatches.settle({ ...claim, outcome }),
        ended: (by) => syncBatches.ended({ ...claim, ...by }),
      });
    },

    /** Its key is asked for by a read that changes nothing (docs/decisions/0013). */
    async awaitAccounting(request) {
      const runtime = servedIn(context.accounting, request.connection);
      const { tooSoonForMs, ownTurnInMs, lookPauseMs } = standingNow(request, random);
      const { refused, sinceMs } = request;
      // Since when the key is refused the waiting workflow knows best: it outlives this process.
      const ofRequest = refused && ({ kind: "refused", service: "accounting", sinceMs } as const);
      const trouble = ofRequest ?? runtime.health.trouble;
      if (tooSoonForMs > 0) throw stillWaiting("It was tried a moment ago.", tooSoonForMs, trouble);
      const ofTheKey = refused?.status === 401;
      // What a key may not do only a call of that kind finds out.
      if (!ofTheKey && ownTurnInMs > 0) {
        if (!refused) throw stillWaiting("It was tried a while ago.", ownTurnInMs, trouble);
        // Its own tries are up to twelve hours apart, and the alert goes on meanwhile.
        if (refused.operation !== undefined) runtime.keyWatch.awaited(refused.operation);
        throw stillWaiting("The key is refused.", lookPauseMs, trouble);
      }
      const classified = await callAndClassify(runtime, "listCompanies", () => runtime.client.listCompanies());
      const { meaning, message } = classified;
      if (meaning.kind === "transient") {
        throw stillWaiting(message, afterTroubleMs(lookPauseMs, classified.error, random), classified.trouble);
      }
      throwIfRetryable(classified, random);
      if (ofTheKey && meaning.kind === "configuration") throw stillWaiting(message, lookPauseMs, trouble);
    },
  };
}

/**
 * A service may ignore an input whose name it does not know, without an error: every page would be the first, or come
 * in any order.
 */
function notWhatWasAsked(
  { page, totalPages, hasNextPage, billPayments }: BillPaymentsPage,
  asked: number,
): Refusal | undefined {
  const refused = (message: string): Refusal => ({ kind: "refused", attention: "unexpected-answer", message });
  // The last page in place of one that is gone; one who ignores the number has others behind the page that it gives.
  const isTheEnd = page < asked && page >= totalPages && !hasNextPage;
  if (page !== asked && !isTheEnd) {
    return refused(
      `Page ${asked} was asked for, and the accounting service answered page ${page}: look at billPayments.page of ACCOUNTING_DIALECT.`,
    );
  }
  const times = billPayments.map(({ updatedAt }) => Date.parse(updatedAt ?? "")).filter((time) => !Number.isNaN(time));
  if (times.some((time, index) => time > (times[index - 1] ?? time))) {
    return refused(
      `The page is not sorted by ${ORDER.sortBy} ${ORDER.sortDirection}, as was asked for: look at billPayments.sortBy and billPayments.sortDirection of ACCOUNTING_DIALECT.`,
    );
  }
  return undefined;
}
