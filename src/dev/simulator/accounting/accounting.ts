import { z } from "zod";

import { CallLog } from "../call-log.ts";
import { parseAccountingDialect } from "../dialect.ts";
import { ApiError, type RequestFields } from "../request.ts";
import {
  type AccountingApplication,
  accountingApplicationSchema,
  type AccountingScenario,
  type HiddenFacts,
  InstructionError,
  parseInstruction,
  paymentMethods,
  paymentStatuses,
  type SyncBatch,
  syncBatchSchema,
} from "../scenario.ts";
import { type OddRows, type Operation, type ServedService, shown, type Surroundings } from "../service.ts";
import { BillPaymentBook, type BookedPayment, sortFields } from "./bill-payments.ts";
import { authenticate, Webhooks, type WebhookToSend } from "./signing.ts";

const settingsSchema = z.strictObject({
  /** How long each call takes before it is looked at. */
  latencyMs: z.number().min(0).default(0),
  /** Refuse calls that are not signed, which the document does not. */
  requireSignature: z.boolean().default(false),
  /** Refuse inputs that the dialect does not name with 400. */
  refuseUnknownFields: z.boolean().default(true),
  /** Payments that a sort field does not tell apart come in another order at every request. */
  unstableTies: z.boolean().default(false),
  /**
   * What a page behind the last one is: none of its rows, a 404, the last page instead, or the last page's rows under
   * the number that was asked for, each time with a next page (`endless`).
   */
  beyondTheEnd: z.enum(["empty", "not-found", "last-page", "endless"]).default("empty"),
});
type AccountingSettings = z.infer<typeof settingsSchema>;

/** A batch, and how often it was processed. */
export interface BookedBatch extends SyncBatch {
  processed: number;
}

/** The page size without the input: a default is not shown. */
const defaultLimit = 20;

/** What a test can do to the accounting service. */
export type AccountingControls = ReturnType<typeof createAccounting>["controls"];

/** The accounting service as its document describes it, with its own state. */
export function createAccounting(scenario: AccountingScenario, rawDialect: unknown, around: Surroundings) {
  const dialect = parseAccountingDialect(rawDialect);
  const settings = settingsSchema.parse({});
  const calls = new CallLog();
  const oddRows: OddRows = new Map();
  const payments = new BillPaymentBook(around.nowMs);
  for (const { body, facts } of scenario.billPayments) payments.add(body, facts);
  payments.generate(scenario.generatedBillPayments);
  const batches = new Map<string, BookedBatch>(
    scenario.syncBatches.map((batch) => [batch.id, { ...batch, processed: 0 }]),
  );
  const webhooks = new Webhooks(dialect.webhook, around);

  const isAuthorized = ({ companies }: AccountingApplication, companyId: string): boolean =>
    companies === null || companies.includes(companyId);

  function listCompanies(application: AccountingApplication): unknown {
    const own = scenario.companies.filter(({ id }) => isAuthorized(application, id));
    return dialect.companies.list === null ? own : { [dialect.companies.list]: own };
  }

  function listBillPayments(
    application: AccountingApplication,
    query: RequestFields,
    refuseOthers: () => void,
  ): unknown {
    const names = dialect.billPayments;
    const asked = query.optionalWholeNumber(names.page, 1, Number.MAX_SAFE_INTEGER) ?? 1;
    const limit = query.optionalWholeNumber(names.limit, 1, 100) ?? defaultLimit;
    const method = query.optionalOneOf(names.paymentMethod, paymentMethods);
    const status = query.optionalOneOf(names.status, paymentStatuses);
    const sortBy = query.optionalOneOf(names.sortBy, sortFields) ?? "createdAt";
    const direction = query.optionalOneOf(names.sortDirection, ["asc", "desc"]) ?? "asc";
    refuseOthers();
    const isWanted = (payment: BookedPayment): boolean =>
      (status === null || payment.status === status) &&
      (method === null || payment.method === method) &&
      isAuthorized(application, payment.companyId);
    const sorted = payments.sorted(sortBy, direction, settings.unstableTies).filter(isWanted);
    const totalPages = Math.ceil(sorted.length / limit);
    const endless = settings.beyondTheEnd === "endless";
    const isBeyond = asked > Math.max(1, totalPages);
    if (isBeyond && settings.beyondTheEnd === "not-found") throw new ApiError(404, "", "There is no such page");
    const page = isBeyond && settings.beyondTheEnd !== "empty" ? Math.max(1, totalPages) : asked;
    return {
      data: sorted.slice((page - 1) * limit, page * limit).map(({ body }) => shown(oddRows, body)),
      total: sorted.length,
      page: endless ? asked : page,
      limit,
      totalPages,
      hasNextPage: endless || page < totalPages,
      hasPreviousPage: page > 1,
    };
  }

  function processSyncBatch(application: AccountingApplication, id: string): unknown {
    const batch = batches.get(id);
    if (batch === undefined) throw new ApiError(404, "", "There is no such sync batch");
    if (!isAuthorized(application, batch.companyId)) throw new ApiError(403, "", "Not authorized for this company");
    if (batch.refuse !== null) throw new ApiError(batch.refuse.status, "", batch.refuse.message);
    batch.processed += 1;
    return { message: batch.message };
  }

  /** Document, "Endpoints". */
  const operations: Operation<AccountingApplication>[] = [
    {
      name: "listCompanies",
      method: "GET",
      path: "/companies",
      scope: null,
      handle: ({ caller }) => ({ status: 200, body: listCompanies(caller) }),
    },
    {
      name: "listBillPayments",
      method: "GET",
      path: "/bill-payments",
      scope: null,
      facts: ({ query }) => ({ status: query[dialect.billPayments.status ?? ""] }),
      handle: ({ caller, query, refuseOthers }) => ({
        status: 200,
        body: listBillPayments(caller, query, refuseOthers),
      }),
    },
    {
      name: "processSyncBatch",
      method: "POST",
      path: "/sync/batches/{syncBatchId}/process",
      scope: null,
      facts: ({ params }) => ({ syncBatchId: params["syncBatchId"] }),
      handle: ({ caller, raw }) => ({ status: 200, body: processSyncBatch(caller, raw.params["syncBatchId"] ?? "") }),
    },
  ];

  const service: ServedService<AccountingApplication> = {
    name: "accounting",
    operations,
    settings,
    calls,
    identify: (raw) => {
      const how = { withQuery: dialect.signature.query, required: settings.requireSignature, nowMs: around.nowMs() };
      const caller = authenticate(raw, scenario.applications, how);
      return { caller, application: caller.name, quota: null };
    },
    requireAllowed: ({ denied }, { name }) => {
      if (denied.some((one) => one === name)) throw new ApiError(403, "", "Not authorized for this resource");
    },
    // The shape of an error's body is not shown.
    errorBody: ({ message }) => ({ message }),
    commonHeaders: () => ({ date: new Date(around.nowMs()).toUTCString() }),
  };

  const controls = {
    /** Every payment with its status, as copies. */
    billPayments: () => structuredClone([...payments.all()]),
    addBillPayment: (body: Record<string, unknown>, facts?: Partial<HiddenFacts>) => {
      payments.add(body, facts);
      around.changes.announce();
    },
    /** A patch of fields touches `updatedAt`; a change of the status alone does not. */
    changeBillPayment: (id: string, patch: Record<string, unknown>, facts?: Partial<HiddenFacts>) => {
      payments.change(id, patch, facts);
      around.changes.announce();
    },
    /** From then on it is listed no more. */
    removeBillPayment: (id: string) => {
      payments.remove(id);
      around.changes.announce();
    },
    /** Has lists show the payment with other fields than it has; null as it is. */
    showOddly: (id: string, fields: Readonly<Record<string, unknown>> | null) => {
      oddRows.set(id, fields ?? {});
    },
    addSyncBatch: (raw: unknown) => {
      const batch = parseInstruction("sync batch", syncBatchSchema, raw);
      batches.set(batch.id, { ...batch, processed: 0 });
    },
    syncBatches: () => structuredClone([...batches.values()]),
    setApplication: (name: string, patch: Partial<AccountingApplication>) => {
      const application = scenario.applications.find((one) => one.name === name);
      if (application === undefined) throw new InstructionError("application", [`there is no application "${name}"`]);
      Object.assign(
        application,
        parseInstruction("application", accountingApplicationSchema, { ...application, ...patch }),
      );
    },
    /** The logged calls, of one operation where it is named. */
    calls: (operation?: string) => calls.entries(operation === undefined ? {} : { operation }),
    resetCalls: () => calls.reset(),
    changeSettings: (patch: Partial<AccountingSettings>) => {
      Object.assign(settings, parseInstruction("settings", settingsSchema, { ...settings, ...patch }));
    },
    /** Resolves once it is answered, or has failed. */
    sendWebhook: (webhook: WebhookToSend) => webhooks.send(webhook),
  };
  return { service, controls, close: () => webhooks.close() };
}
