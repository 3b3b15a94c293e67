import { z } from "zod";
import { InstructionError, parseInstruction } from "../problems.ts";
import type { AccountingCall, AccountingSettings, AccountingWorld, BookedBatch } from "./accounting-world.ts";
import type { BookedPayment } from "./bill-payment-book.ts";
import { generatePayments } from "./generated-payments.ts";
import { applicationPatchSchema, type HiddenFacts, operations, syncBatchSchema } from "./scenario.ts";
import type { SentWebhook, WebhookToSend } from "./webhook-sender.ts";

export const accountingSettingsPatchSchema = z.strictObject({
  latencyMs: z.number().min(0).optional(),
  requireSignature: z.boolean().optional(),
  refuseUnknownInputs: z.boolean().optional(),
  unstableTies: z.boolean().optional(),
  beyondTheEnd: z.enum(["empty", "not-found", "last-page", "endless"]).optional(),
});

/** What a test can do to the accounting service; the same over HTTP under `/_simulator/accounting`. */
export interface AccountingControls {
  /** Every payment with its status, as copies. */
  billPayments(): BookedPayment[];
  addBillPayment(body: Record<string, unknown>, facts?: Partial<HiddenFacts>): BookedPayment;
  /** A patch of fields touches `updatedAt`; a change of the status alone does not. */
  changeBillPayment(id: string, patch: Record<string, unknown>, facts?: Partial<HiddenFacts>): BookedPayment;
  /** Has lists show the payment with other fields than it has; null as it is. */
  showOddly(id: string, fields: Readonly<Record<string, unknown>> | null): void;
  /** From then on it is listed no more. */
  removeBillPayment(id: string): boolean;
  /** Makes up payments, the newest made now; returns how many there are. */
  generateBillPayments(count: number, seed?: number): number;
  addSyncBatch(batch: unknown): void;
  syncBatches(): BookedBatch[];
  setApplication(name: string, patch: unknown): void;
  /** The logged calls, of one operation where it is named. */
  calls(operation?: string): AccountingCall[];
  resetCalls(): void;
  changeSettings(patch: Partial<AccountingSettings>): void;
  /** Resolves once it is answered, or has failed. */
  sendWebhook(webhook: WebhookToSend): Promise<SentWebhook>;
  webhooks(): SentWebhook[];
  /**
   * Returns the id under which `removeFault` takes it away. Operations: listCompanies, listBillPayments,
   * processSyncBatch.
   */
  inject(fault: unknown): number;
  removeFault(id: number): boolean;
  clearFaults(): void;
}

export function createAccountingControls(world: AccountingWorld): AccountingControls {
  const { payments, changes } = world;
  const announcing = <T>(result: T): T => {
    changes.announce();
    return result;
  };
  let generated = payments.size;
  return {
    billPayments: () => structuredClone([...payments.all()]),
    addBillPayment: (body, facts) => announcing(structuredClone(payments.add(body, facts))),
    changeBillPayment: (id, patch, facts) => announcing(structuredClone(payments.change(id, patch, facts))),
    showOddly: (id, fields) => world.oddRows.set(id, fields),
    removeBillPayment: (id) => announcing(payments.remove(id)),
    generateBillPayments: (count, seed) => {
      generatePayments(payments, count, generated + 1, world.nowMs(), seed);
      generated += count;
      return announcing(payments.size);
    },
    addSyncBatch: (raw) => {
      const batch = parseInstruction("sync batch", syncBatchSchema, raw);
      world.batches.set(batch.id, { ...batch, processed: 0 });
    },
    syncBatches: () => structuredClone([...world.batches.values()]),
    setApplication: (name, patch) => {
      const application = world.applications.find((one) => one.name === name);
      if (application === undefined) throw new InstructionError("application", [`there is no application "${name}"`]);
      const parsed = parseInstruction("application", applicationPatchSchema, patch);
      Object.assign(application, Object.fromEntries(Object.entries(parsed).filter(([, value]) => value !== undefined)));
    },
    calls: (operation) =>
      world.calls
        .filter((call) => operation === undefined || call.operation === operation)
        .map((call) => ({ ...call })),
    resetCalls: () => {
      world.calls = [];
    },
    changeSettings: (patch) => {
      const parsed = parseInstruction("settings", accountingSettingsPatchSchema, patch);
      const named = Object.entries(parsed).filter(([, value]) => value !== undefined);
      Object.assign(world.settings, Object.fromEntries(named));
    },
    sendWebhook: (webhook) => world.webhooks.send(webhook),
    webhooks: () => structuredClone([...world.webhooks.sent()]),
    inject: (fault) => world.faults.inject(fault, operations),
    removeFault: (id) => world.faults.remove(id),
    clearFaults: () => world.faults.clear(),
  };
}
