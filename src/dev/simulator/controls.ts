import type { FastifyInstance } from "fastify";
import { z } from "zod";

import type { AccountingControls } from "./accounting/accounting.ts";
import type { StatusExtras } from "./authority.ts";
import type { CallEntry } from "./call-log.ts";
import { issueElsewhere } from "./create-document.ts";
import type { DocumentRecord } from "./documents.ts";
import type { Fault } from "./faults.ts";
import { addItem, itemsOf, updateItem } from "./goods.ts";
import type { Application, KeyPatch } from "./keyring.ts";
import { addPurchase, updatePurchase } from "./purchases.ts";
import {
  authorityScriptSchema,
  type AuthorityStep,
  authorityStepSchema,
  branchSchema,
  businessSchema,
  type DocumentStatus,
  documentStatuses,
  type ElsewhereSale,
  InstructionError,
  isInFlight,
  known,
  type NewBusiness,
  type NewItem,
  type NewPurchase,
  parseInstruction,
  requireNew,
} from "./scenario.ts";
import { triggerFault, type TriggerOptions, TRIGGERS, triggerText } from "./triggers.ts";
import { documentBooks, readBooks, type Settings, settingsSchema, type World } from "./world.ts";

/** What a test can do to the simulator besides calling its API; see {@link addControlRoutes} for other processes. */
export type Controls = ReturnType<typeof createControls>;

/** @param operations the names of both services that a fault can strike */
export function createControls(world: World, operations: readonly string[]) {
  const { authority, callbacks, changes, faults, keyring, settings } = world;
  const recordOf = (saleId: string): DocumentRecord => {
    const record = world.documents.get(saleId);
    if (record === undefined) throw new InstructionError("document", [`there is no document "${saleId}"`]);
    return record;
  };
  return {
    books: () => readBooks(world),
    /** The documents with this number (all without one), without the cost of the whole books. */
    documents: (invoice?: string) =>
      (invoice === undefined ? world.documents.all() : world.documents.withInvoice(invoice)).map(documentBooks),
    /** The logged calls of the Compliance API that agree with every given field. */
    calls: (filter: Partial<CallEntry> = {}) => world.calls.entries(filter),
    /** How often an operation of the Compliance API was called, without the cost of the log. */
    callCount: (operation: string) => world.calls.byOperation()[operation] ?? 0,
    /**
     * Scripts a document by its number: one step for each submission, the last repeats. One in flight is decided again
     * at once.
     */
    setAuthority: (invoice: string, steps: readonly AuthorityStep[]) =>
      authority.setScript(invoice, parseInstruction("authority", authorityScriptSchema, steps)),
    /** The step for every document without a script; those in flight are decided again at once. */
    setDefaultAuthority: (step: AuthorityStep) =>
      authority.setDefault(parseInstruction("authority", authorityStepSchema, step)),
    addItem: (item: NewItem) => addItem(world, item),
    /** Changes what the patch names. */
    updateItem: (id: string, patch: Partial<NewItem>) => updateItem(world, id, patch),
    /** Those of the business that are not deleted, in no order. */
    items: (businessId: string) => structuredClone(itemsOf(world, businessId)),
    addPurchase: (purchase: NewPurchase) => {
      addPurchase(world, purchase);
      changes.announce();
    },
    /** Changes what the patch names; another date moves it in the list. */
    updatePurchase: (id: string, patch: Partial<NewPurchase>) => {
      updatePurchase(world, id, patch);
      changes.announce();
    },
    removePurchase: (id: string) => {
      known("purchase", world.purchases, id);
      world.purchases.delete(id);
      changes.announce();
    },
    /** All, in no order; `stored: false` where only the tax authority holds it. */
    purchases: () => structuredClone([...world.purchases.values()]),
    /** Has lists show the row of that item or purchase with other fields than it has; null as it is. */
    showOddly: (id: string, fields: Readonly<Record<string, unknown>> | null) => {
      world.oddRows.set(id, fields ?? {});
    },
    addBusiness: (raw: NewBusiness) => {
      const business = parseInstruction("business", businessSchema, raw);
      requireNew("business", world.businesses, business.id);
      world.businesses.set(business.id, business);
    },
    addBranch: (businessId: string, raw: NewBusiness["branches"][number]) => {
      const { branches } = known("business", world.businesses, businessId);
      branches.push(parseInstruction("branch", branchSchema, raw));
    },
    /** A sale that the API did not create, so that it can be adopted by its id. */
    issueSale: (sale: ElsewhereSale) => documentBooks(issueElsewhere(world, sale)),
    /** Puts a document into a status by hand, with its receipt, error and callback. */
    setDocumentStatus: (saleId: string, status: DocumentStatus, extras?: StatusExtras) =>
      authority.force(recordOf(saleId), parseInstruction("status", z.enum(documentStatuses), status), extras),
    /** Changes or makes a key; null removes it. */
    setKey: (key: string, patch: KeyPatch | null) => keyring.set(key, patch),
    setApplication: (name: string, patch: Partial<Pick<Application, "suspended" | "limitPerWindow">>) => {
      Object.assign(known("application", keyring.applications, name), patch);
    },
    changeSettings: (patch: Partial<Settings>) => {
      Object.assign(settings, parseInstruction("settings", settingsSchema, { ...settings, ...patch }));
    },
    /** Callbacks that fall due wait until `resumeCallbacks`. */
    pauseCallbacks: () => callbacks.pause(),
    resumeCallbacks: () => callbacks.resume(),
    /** Sends the latest event of this document once more. */
    redeliver: (saleId: string) => {
      if (!callbacks.redeliver(recordOf(saleId)))
        throw new InstructionError("document", [`the document "${saleId}" has no event to deliver`]);
    },
    /** Of either service. Returns the function that takes the fault away. */
    inject: (fault: Fault) => {
      const id = faults.inject(fault, operations);
      return () => faults.remove(id);
    },
    /** Injects a fault by the name of a trouble; `done` says what it does. */
    trigger: (name: string, options: TriggerOptions = {}) => {
      const fault = triggerFault(name, options);
      return { id: faults.inject(fault, operations), done: `${triggerText(fault)} ${TRIGGERS[name]?.help}` };
    },
    /** Takes away the faults of this trigger, or all; returns them. */
    clearFaults: (trigger?: string) => {
      const ended = faults.books().active.filter((fault) => trigger === undefined || fault.trigger === trigger);
      for (const { id } of ended) faults.remove(id);
      return ended;
    },
    /** As if every idempotency key had outlived its life. */
    forgetIdempotencyKeys: () => world.kept.clear(),
    /** Empties the call log and the counts of faults; windows keep what was used. */
    resetCalls: () => {
      world.calls.reset();
      faults.resetCounts();
    },
    /** Resolves once the document is completed, failed or cancelled. */
    settled: async (saleId: string) => {
      const record = recordOf(saleId);
      await changes.until(() => !isInFlight(record.sale.status));
      return documentBooks(record);
    },
    /** Resolves once its callback is delivered or given up. */
    callbackSettled: async (saleId: string) => {
      const record = recordOf(saleId);
      await changes.until(() => ["delivered", "failed"].includes(record.sale.callback?.status ?? ""));
      return documentBooks(record);
    },
  };
}

const named = z.object({ control: z.string() });
const argumentsSchema = z.array(z.unknown()).default([]);

/**
 * Every control over HTTP, for other processes: `POST /_simulator/<control>`, of the accounting service
 * `POST /_simulator/accounting/<control>`, with the arguments as a JSON array; GET for those without. Answers what the
 * control returns, or null. Not counted, not authenticated, not limited.
 */
export function addControlRoutes(server: FastifyInstance, controls: Controls, accounting: AccountingControls): void {
  for (const [url, all] of [
    ["/:control", controls],
    ["/accounting/:control", accounting],
  ] as const) {
    const byName = new Map<string, (...given: never[]) => unknown>(Object.entries(all));
    server.route({
      method: ["GET", "POST"],
      url,
      handler: async (request, reply) => {
        const control = known("control", byName, named.parse(request.params).control);
        const given = parseInstruction("arguments", argumentsSchema, request.body ?? undefined);
        const result = await control(...(given as never[]));
        return await reply.type("application/json; charset=utf-8").send(JSON.stringify(result) ?? "null");
      },
    });
  }
}
