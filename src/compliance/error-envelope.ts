import { z } from "zod";
import type { Item, SaleDocument } from "../contract/documents.ts";
import { redactDeep } from "./redact.ts";
import { itemSchema, saleSchema } from "./schemas.ts";

/**
 * What an error says besides `code` and `message` (Fiscal Compliance API, "Errors"). `sale` and `item` are read
 * leniently: where one is not whole, what decides is kept all the same (`seenSale`, `seenItem`).
 */
export interface ErrorExtras {
  sale?: SaleDocument;
  seenSale?: SeenSale;
  item?: Item;
  seenItem?: SeenItem;
  /** As the API sent them, keys and URLs taken out. */
  errors?: unknown;
  branches?: unknown;
  creditNoteId?: string;
}

export interface SeenSale {
  id: string;
  type?: string | undefined;
  /** Only on a credit note. */
  originalSaleId?: string | undefined;
}

export interface SeenItem {
  registrationStatus?: string | undefined;
  /** The names under `needs` that are true. */
  missing: string[];
}

const looseText = z.string().optional().catch(undefined);
const seenSaleSchema = z.object({
  id: z.string().min(1),
  type: looseText,
  originalSaleId: z.string().min(1).optional().catch(undefined),
});
const seenItemSchema = z.object({
  registrationStatus: looseText,
  needs: z.record(z.string(), z.unknown()).catch({}).default({}),
});
const envelopeSchema = z.looseObject({
  error: z.looseObject({ code: z.string().min(1), message: z.string().catch("") }),
});

export interface ErrorEnvelope {
  apiCode: string;
  message: string;
}

export function readErrorEnvelope(json: unknown): ErrorEnvelope | undefined {
  const parsed = envelopeSchema.safeParse(json);
  return parsed.success ? { apiCode: parsed.data.error.code, message: parsed.data.error.message } : undefined;
}

/**
 * The document puts the extras beside `code` and `message`. They are also found beside `error` and in `data`: a
 * document that exists and is overlooked would be issued twice.
 */
export function readErrorExtras(json: unknown): ErrorExtras {
  const places = [field(json, "error"), json, field(json, "data")];
  const find = (name: string): unknown =>
    places.map((place) => field(place, name)).find((value) => value !== undefined && value !== null);

  const extras: ErrorExtras = {};
  const sale = find("sale");
  const seenSale = readSeenSale(sale);
  const wholeSale = saleSchema.safeParse(sale);
  if (wholeSale.success) extras.sale = wholeSale.data;
  if (seenSale !== undefined) extras.seenSale = seenSale;

  const item = find("item");
  const wholeItem = itemSchema.safeParse(item);
  if (wholeItem.success) extras.item = wholeItem.data;
  const seenItem = readSeenItem(item);
  if (seenItem !== undefined) extras.seenItem = seenItem;

  const errors = find("errors");
  if (errors !== undefined) extras.errors = redactDeep(errors);
  const branches = find("branches");
  if (branches !== undefined) extras.branches = redactDeep(branches);
  const creditNoteId = find("creditNoteId");
  if (typeof creditNoteId === "string" && creditNoteId !== "") extras.creditNoteId = creditNoteId;
  return extras;
}

export function readSeenSale(sale: unknown): SeenSale | undefined {
  const parsed = seenSaleSchema.safeParse(sale);
  return parsed.success ? parsed.data : undefined;
}

function readSeenItem(item: unknown): SeenItem | undefined {
  const parsed = seenItemSchema.safeParse(item);
  if (!parsed.success) return undefined;
  const missing = Object.entries(parsed.data.needs).flatMap(([name, value]) => (value === true ? [name] : []));
  return { registrationStatus: parsed.data.registrationStatus, missing };
}

export function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
