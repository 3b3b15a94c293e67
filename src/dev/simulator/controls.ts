import { z } from "zod";
import { operationsOf } from "./api-routes.ts";
import { authorityScriptSchema, authorityStepSchema, documentStatuses, type AuthorityStep } from "./authority-step.ts";
import type { DocumentStatus } from "./authority-step.ts";
import { isInFlight, type StatusExtras } from "./authority.ts";
import { documentBooks, readBooks, type Books, type DocumentBooks } from "./books.ts";
import type { CallEntry } from "./call-log.ts";
import type { ItemRecord } from "./catalogue.ts";
import type { DocumentRecord } from "./document-record.ts";
import { disturbedElsewhere, type Fault } from "./fault-schema.ts";
import type { FaultBooks } from "./faults.ts";
import { issueElsewhere } from "./issue-elsewhere.ts";
import { changeSettings, type SettingsPatch } from "./options.ts";
import { InstructionError, parseInstruction } from "./problems.ts";
import {
  branchSchema,
  businessSchema,
  type ElsewhereSale,
  type ItemPatch,
  type KeyPatch,
  type NewBusiness,
  type NewItem,
  type NewPurchase,
  type Purchase,
  type PurchasePatch,
} from "./scenario-schema.ts";
import { statusExtrasSchema } from "./status-extras.ts";
import type { World } from "./world.ts";

/** What a test can do to the simulator besides calling its API; the same over HTTP under `/_simulator`. */
export interface Controls {
  books(): Books;
  /** The documents with this number (all without one), without the cost of the whole books. */
  documents(invoice?: string): DocumentBooks[];
  /** The logged calls that agree with every given field. */
  calls(filter?: { readonly [Name in keyof CallEntry]?: CallEntry[Name] | string }): CallEntry[];
  /** How often an operation was called, without the cost of the log. */
  callCount(operation: string): number;
  /**
   * Scripts a document by its number: one step for each submission, the last repeats. One in flight is decided again at
   * once.
   */
  setAuthority(invoice: string, steps: readonly AuthorityStep[]): void;
  /** The step for every document without a script; those in flight are decided again at once. */
  setDefaultAuthority(step: AuthorityStep): void;
  addItem(item: NewItem): void;
  updateItem(id: string, patch: ItemPatch): void;
  /** Those of the business that are not deleted, in no order. */
  items(businessId: string): ItemRecord[];
  addPurchase(purchase: NewPurchase): void;
  /** Only the fields that the patch names change; another date moves it in the list. */
  updatePurchase(id: string, patch: PurchasePatch): void;
  removePurchase(id: string): void;
  /** Has lists show the row of that item or purchase with other fields than it has; null as it is. */
  showOddly(id: string, fields: Readonly<Record<string, unknown>> | null): void;
  /** All, in no order; `stored: false` where only the tax authority holds it. */
  purchases(): Purchase[];
  addBusiness(business: NewBusiness): void;
  addBranch(businessId: string, branch: NewBusiness["branches"][number]): void;
  /** A sale that the API did not create, so that it can be adopted by its id. */
  issueSale(sale: ElsewhereSale): DocumentBooks;
  /** Puts a document into a status by hand, with its receipt, error and callback. */
  setDocumentStatus(saleId: string, status: DocumentStatus, extras?: StatusExtras): void;
  /** Changes or makes a key; null removes it. */
  setKey(key: string, patch: KeyPatch | null): void;
  setApplicationLimit(application: string, limitPerWindow: number): void;
  setApplicationSuspended(application: string, suspended: boolean): void;
  changeSettings(patch: SettingsPatch): void;
  /** Callbacks that fall due wait until `resumeCallbacks`. */
  pauseCallbacks(): void;
  resumeCallbacks(): void;
  /** Sends the latest event of this document once more. */
  redeliver(saleId: string): void;
  /** Returns the function that takes the fault away. */
  inject(fault: Fault): () => void;
  injectNumbered(fault: unknown): number;
  removeFault(id: number): boolean;
  /** The faults that can still strike, and how often each has struck. */
  activeFaults(): FaultBooks["active"];
  clearFaults(): void;
  /** As if every idempotency key had outlived its life. */
  forgetIdempotencyKeys(): void;
  /** Empties the call log, its counts and the counts of faults; windows keep what was used. */
  resetCalls(): void;
  /** Resolves once the document is completed, failed or cancelled. */
  settled(saleId: string): Promise<DocumentBooks>;
  /** Resolves once its callback is delivered or given up. */
  callbackSettled(saleId: string): Promise<DocumentBooks>;
  /** Resolves once `check` is true; it is asked after each change of the simulator's state. */
  until(check: () => boolean): Promise<void>;
}

function requireRecord(world: World, saleId: string): DocumentRecord {
  const record = world.documents.get(saleId);
  if (record === undefined) throw new InstructionError("document", [`there is no document "${saleId}"`]);
  return record;
}

/** The steering wheel of a world. */
export function createControls(world: World): Controls {
  const { authority, callbacks, catalogue, changes, faults, keyring, stock } = world;
  const operations = [...operationsOf(world).map(({ name }) => name), ...disturbedElsewhere];
  const injectNumbered = (fault: unknown): number => faults.inject(fault, operations);
  return {
    books: () => readBooks(world),
    documents: (invoice) =>
      [...(invoice === undefined ? world.documents.all() : world.documents.withInvoice(invoice))].map(documentBooks),
    calls: (filter = {}) => {
      const wanted = Object.entries(filter);
      const agrees = (entry: CallEntry): boolean => {
        const known = new Map<string, unknown>(Object.entries(entry));
        // Over HTTP every wanted value is a string.
        return wanted.every(([name, value]) => String(known.get(name)) === String(value));
      };
      const entries = world.calls.entries();
      return (wanted.length === 0 ? entries : entries.filter(agrees)).map((entry) => ({ ...entry }));
    },
    callCount: (operation) => world.calls.countOf(operation),
    setAuthority: (invoice, steps) =>
      authority.setScript(invoice, parseInstruction("authority", authorityScriptSchema, steps)),
    setDefaultAuthority: (step) => authority.setDefault(parseInstruction("authority", authorityStepSchema, step)),
    addItem: (item) => {
      const { id, onHand } = catalogue.add(item);
      stock.set(id, onHand);
    },
    updateItem: (id, patch) => {
      stock.set(id, catalogue.update(id, patch).onHand ?? {});
    },
    items: (businessId) => structuredClone(catalogue.of(businessId)),
    addPurchase: (purchase) => {
      world.purchases.add(purchase);
      changes.announce();
    },
    updatePurchase: (id, patch) => {
      world.purchases.update(id, patch);
      changes.announce();
    },
    removePurchase: (id) => {
      world.purchases.remove(id);
      changes.announce();
    },
    showOddly: (id, fields) => world.oddRows.set(id, fields),
    purchases: () => structuredClone(world.purchases.all()),
    addBusiness: (raw) => {
      const business = parseInstruction("business", businessSchema, raw);
      if (world.businesses.has(business.id))
        throw new InstructionError("business", [`business.id: "${business.id}" exists`]);
      world.businesses.set(business.id, business);
    },
    addBranch: (businessId, raw) => {
      const business = world.businesses.get(businessId);
      if (business === undefined) throw new InstructionError("branch", [`there is no business "${businessId}"`]);
      business.branches.push(parseInstruction("branch", branchSchema, raw));
    },
    issueSale: (sale) => documentBooks(issueElsewhere(world, sale)),
    setDocumentStatus: (saleId, status, extras = {}) => {
      const record = requireRecord(world, saleId);
      const wanted = parseInstruction("status", z.enum(documentStatuses), status);
      authority.force(record, wanted, parseInstruction("status", statusExtrasSchema, extras));
    },
    setKey: (key, patch) => keyring.set(key, patch),
    setApplicationLimit: (application, limitPerWindow) => keyring.setLimit(application, limitPerWindow),
    setApplicationSuspended: (application, suspended) => keyring.setSuspended(application, suspended),
    changeSettings: (patch) => changeSettings(world.settings, patch, changes),
    pauseCallbacks: () => callbacks.pause(),
    resumeCallbacks: () => callbacks.resume(),
    redeliver: (saleId) => {
      if (!callbacks.redeliver(requireRecord(world, saleId)))
        throw new InstructionError("document", [`the document "${saleId}" has no event to deliver`]);
    },
    inject: (fault) => {
      const id = injectNumbered(fault);
      return () => {
        faults.remove(id);
      };
    },
    injectNumbered,
    removeFault: (id) => faults.remove(id),
    activeFaults: () => structuredClone(faults.books().active),
    clearFaults: () => faults.clear(),
    forgetIdempotencyKeys: () => world.idempotency.forget(),
    resetCalls: () => {
      world.calls.reset();
      faults.resetCounts();
    },
    settled: async (saleId) => {
      const record = requireRecord(world, saleId);
      await changes.until(() => !isInFlight(record.sale.status));
      return documentBooks(record);
    },
    callbackSettled: async (saleId) => {
      const record = requireRecord(world, saleId);
      await changes.until(() => ["delivered", "failed"].includes(record.sale.callback?.status ?? ""));
      return documentBooks(record);
    },
    until: async (check) => changes.until(check),
  };
}
