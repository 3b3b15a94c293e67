import type { Changes } from "../changes.ts";
import { Faults } from "../faults.ts";
import { OddRows } from "../odd-rows.ts";
import type { Timers } from "../timers.ts";
import { BillPaymentBook } from "./bill-payment-book.ts";
import { type AccountingDialect, parseAccountingDialect } from "./dialect.ts";
import { generatePayments } from "./generated-payments.ts";
import { type AccountingApplication, type AccountingScenario, type SyncBatch } from "./scenario.ts";
import { WebhookSender } from "./webhook-sender.ts";

/**
 * One call as it arrived. `status` is null until it is answered, and stays null when a fault destroyed the connection.
 */
export interface AccountingCall {
  atMs: number;
  operation: string;
  method: string;
  path: string;
  query: Record<string, string>;
  status: number | null;
  application: string | null;
  signed: boolean;
  fault: string | null;
}

export interface AccountingSettings {
  /** How long each call takes before it is looked at; default 0. */
  latencyMs: number;
  /** Refuse calls that are not signed, which the document does not; default false. */
  requireSignature: boolean;
  /** Refuse inputs that the dialect does not name with 400; default true. */
  refuseUnknownInputs: boolean;
  /** Payments that a sort field does not tell apart come in another order at every request; default false. */
  unstableTies: boolean;
  /**
   * What a page behind the last one is: none of its rows, a 404, the last page instead, or the last page's rows under
   * the number that was asked for, each time with a next page (`endless`); default `empty`.
   */
  beyondTheEnd: "empty" | "not-found" | "last-page" | "endless";
}

/** A batch, and how often it was processed. */
export interface BookedBatch extends SyncBatch {
  processed: number;
}

const keptCalls = 100_000;

/** Everything that the simulated accounting service knows. */
export interface AccountingWorld {
  readonly nowMs: () => number;
  readonly settings: AccountingSettings;
  readonly dialect: AccountingDialect;
  readonly timers: Timers;
  readonly changes: Changes;
  readonly applications: AccountingApplication[];
  readonly companies: Record<string, unknown>[];
  readonly payments: BillPaymentBook;
  readonly batches: Map<string, BookedBatch>;
  readonly faults: Faults;
  readonly oddRows: OddRows;
  readonly webhooks: WebhookSender;
  calls: AccountingCall[];
}

export function createAccountingWorld(options: {
  scenario: AccountingScenario;
  dialect: unknown;
  nowMs: () => number;
  timers: Timers;
  changes: Changes;
  seed: number;
}): AccountingWorld {
  const { scenario, nowMs, timers, changes } = options;
  const dialect = parseAccountingDialect(options.dialect);
  const payments = new BillPaymentBook(nowMs);
  for (const { body, facts } of scenario.billPayments) payments.add(body, facts);
  generatePayments(payments, scenario.generatedBillPayments, 1, nowMs());
  return {
    nowMs,
    settings: {
      latencyMs: 0,
      requireSignature: false,
      refuseUnknownInputs: true,
      unstableTies: false,
      beyondTheEnd: "empty",
    },
    dialect,
    timers,
    changes,
    applications: scenario.applications,
    companies: [...scenario.companies],
    payments,
    batches: new Map(scenario.syncBatches.map((batch) => [batch.id, { ...batch, processed: 0 }])),
    // Of its own chance: calls of the other service must not change which of these are struck.
    faults: new Faults(options.seed + 100),
    oddRows: new OddRows(),
    webhooks: new WebhookSender(dialect.webhook, nowMs, changes),
    calls: [],
  };
}

export function logCall(world: AccountingWorld, call: AccountingCall): AccountingCall {
  world.calls.push(call);
  if (world.calls.length > keptCalls * 1.1) world.calls = world.calls.slice(-keptCalls);
  return call;
}
