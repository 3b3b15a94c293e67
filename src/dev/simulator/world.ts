import { z } from "zod";
import type { Authority } from "./authority.ts";
import type { Callbacks } from "./callbacks.ts";
import type { CallLog } from "./call-log.ts";
import type { Dialect } from "./dialect.ts";
import type { DocumentRecord, DocumentStore } from "./documents.ts";
import type { Caller, Keyring, RateWindows } from "./keyring.ts";
import { type ApiError, forbidden, invalidRequest, notFound } from "./request.ts";
import type { Business, Item, Purchase } from "./scenario.ts";
import type { Call, OddRows, Surroundings } from "./service.ts";

/** One line of the stock journal. */
export interface Movement {
  movementId: string;
  atMs: number;
  application: string;
  businessId: string;
  branchId: string;
  itemId: string;
  action: "ADD" | "DEDUCT";
  quantity: number;
  unitPrice: number | null;
  referenceId: string | null;
  onHandBefore: number;
  onHandAfter: number;
}

/** What an idempotency key stands for: the document it made, or the rejection that left none. */
export interface KeptResult {
  result: DocumentRecord | ApiError;
  body: unknown;
}

export interface KeyReuse {
  atMs: number;
  operation: string;
  application: string;
  idempotencyKey: string;
}

/** What may change while the simulator runs. */
export const settingsSchema = z.strictObject({
  /** Requests per window and application. */
  limitPerWindow: z.number().int().positive().default(120),
  /** Length of a window, aligned to `floor(now / windowMs)`. */
  windowMs: z.number().int().positive().default(60_000),
  /** How long each call takes before it is looked at. */
  latencyMs: z.number().min(0).default(0),
  /** POST of a sale files a new document each time, whatever its Idempotency-Key. */
  ignoreIdempotencyKeyOnSales: z.boolean().default(false),
  /** Refuse fields that the dialect does not name with 400. */
  refuseUnknownFields: z.boolean().default(true),
  /** Delay before each further callback attempt; then the callback is `failed`. */
  callbackRetryDelaysMs: z.array(z.number().int().min(0)).readonly().default([1000, 5000, 30_000]),
});
export type Settings = z.infer<typeof settingsSchema>;

/** Everything that the simulated Compliance API knows. */
export interface World extends Surroundings {
  readonly settings: Settings;
  readonly dialect: Dialect;
  readonly keyring: Keyring;
  readonly businesses: Map<string, Business>;
  readonly taxRates: Readonly<Record<string, number>>;
  readonly items: Map<string, Item>;
  readonly movements: Movement[];
  readonly purchases: Map<string, Purchase>;
  readonly documents: DocumentStore;
  readonly authority: Authority;
  readonly callbacks: Callbacks;
  /** By application, operation and idempotency key. */
  readonly kept: Map<string, KeptResult>;
  readonly keyReuses: KeyReuse[];
  readonly windows: RateWindows;
  readonly oddRows: OddRows;
  readonly calls: CallLog;
}

/** The business a call acts for (document, Authentication 2, 3 and 6), or the refusal. */
export function businessOf(
  world: World,
  { caller, entry, query, body }: Call<Caller>,
  where: "query" | "body",
): Business {
  const named = (where === "query" ? query : body()).optionalText("businessId", 200);
  if (caller.boundTo !== null && named !== null && named !== caller.boundTo)
    throw forbidden("This key is limited to another business");
  const wanted = caller.boundTo ?? named;
  if (wanted === null) throw invalidRequest("businessId", "is required with an organisation-wide key");
  const business = world.businesses.get(wanted);
  if (business === undefined || business.organisation !== caller.application.organisation) throw notFound("Business");
  if (business.environment !== caller.environment)
    throw forbidden(`A key of the other environment cannot act for a ${business.environment} business`);
  world.calls.note(entry, { businessId: business.id });
  return business;
}

/** The id of the branch that a selector names; the business's first branch without one. */
export function chooseBranch(
  { branches }: Business,
  field: string | null,
  selector: string | null,
  by: Dialect["stock"]["branchBy"] | "either",
): string {
  const named = branches.find(
    ({ id, authorityBhfId }) =>
      (by !== "id" && authorityBhfId === selector) || (/^(id|either)$/.test(by) && id === selector),
  );
  const chosen = selector === null ? branches[0] : named;
  if (chosen === undefined) throw invalidRequest(field ?? "branch", "names no branch of the business", { branches });
  return chosen.id;
}

export type DocumentBooks = ReturnType<typeof documentBooks>;
export type Books = ReturnType<typeof readBooks>;

/** A document as the API shows it, and what only the simulator knows about it: every call that touched it, for one. */
export function documentBooks(record: DocumentRecord) {
  const { sale, calls, script: _script, scriptPosition: _position, cancelTimer: _timer, ...kept } = record;
  return {
    ...structuredClone(sale),
    ...kept,
    calls: calls.map(({ atMs, operation, status, replayed, fault }) => ({ atMs, operation, status, replayed, fault })),
  };
}

function copies<T extends object>(entries: readonly T[]): T[] {
  return entries.map((entry) => ({ ...entry }));
}

/** Everything that happened, as plain data: changing it changes nothing in the simulator. */
export function readBooks(world: World) {
  const stockOnHand: Record<string, Record<string, number>> = {};
  for (const { id, onHand } of world.items.values()) stockOnHand[id] = { ...onHand };
  return {
    documents: world.documents.all().map(documentBooks),
    movements: copies(world.movements),
    /** Item id → branch id → quantity. */
    stockOnHand,
    calls: { byOperation: world.calls.byOperation() },
    /** The latest 100,000 calls in the order of their arrival. */
    callLog: world.calls.entries(),
    windows: copies(world.windows.list()),
    callbacks: copies(world.callbacks.attempts),
    faults: structuredClone(world.faults.books()),
    keyReusedWithOtherBody: copies(world.keyReuses),
  };
}
