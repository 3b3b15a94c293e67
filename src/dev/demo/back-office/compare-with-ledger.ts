import { isDeepStrictEqual } from "node:util";

import { sumOf } from "../../../contract/index.ts";
import type { Amounts } from "../../../ledger/index.ts";
import type { LedgerContents, ServiceBooks } from "./books-and-ledger.ts";

/**
 * Holds what the ledger has kept against the simulator's own books: every item, purchase, bill payment and sync batch,
 * and the totals of the day's report. Returns each difference in words; none means that they agree.
 *
 * @param day of the report, `YYYY-MM-DD`
 */
export function compareWithLedger(books: ServiceBooks, ledger: LedgerContents, day: string): string[] {
  return [
    ...itemDifferences(books, ledger),
    ...purchaseDifferences(books, ledger),
    ...billPaymentDifferences(books, ledger),
    ...batchDifferences(books, ledger),
    ...reportDifferences(books, ledger, day),
  ];
}

function itemDifferences({ items }: ServiceBooks, ledger: LedgerContents): string[] {
  const repeated = items
    .filter(({ registrationAttempts }) => registrationAttempts > 1)
    .map(({ id, registrationAttempts }) => `the registration of ${id} was asked for ${registrationAttempts} times`);
  const known = ledger.items.map(({ item, kind }) => [item, kind.startsWith("registered") ? "is" : "is not"] as const);
  const booked = items.map(
    ({ id, registrationStatus }) => [id, registrationStatus === "REGISTERED" ? "is" : "is not"] as const,
  );
  return [...repeated, ...differencesById("registration of", new Map(booked), new Map(known))];
}

function purchaseDifferences(books: ServiceBooks, ledger: LedgerContents): string[] {
  // What is not stored is known to the tax authority alone: the synchronisation should have pulled it.
  const left = books.purchases.filter(({ stored }) => !stored).map(({ id }) => `the purchase ${id} was not pulled`);
  const booked = books.purchases
    .filter(({ stored }) => stored)
    .map(({ businessId: _businessId, stored: _stored, changes: _changes, ...shown }) => [shown.id, shown] as const);
  const known = ledger.purchases
    .filter(({ missingSinceMs }) => missingSinceMs === null)
    .map(({ entry }) => [entry.id, entry] as const);
  return [...left, ...differencesById("purchase", new Map(booked), new Map(known))];
}

function billPaymentDifferences(books: ServiceBooks, ledger: LedgerContents): string[] {
  const booked = books.billPayments.map(({ body, status }) => [body.id, { body, status }] as const);
  const known = ledger.billPayments
    .filter(({ missingSinceMs }) => missingSinceMs === null)
    .map(({ entry, syncStatus }) => [entry.id, { body: entry, status: syncStatus }] as const);
  return differencesById("bill payment", new Map(booked), new Map(known));
}

function batchDifferences({ syncBatches }: ServiceBooks, ledger: LedgerContents): string[] {
  const repeated = syncBatches
    .filter(({ processed }) => processed > 1)
    .map(({ id, processed }) => `the sync batch ${id} was processed ${processed} times`);
  const booked = syncBatches.flatMap(({ id, processed, message }) => (processed > 0 ? [[id, message] as const] : []));
  const known = ledger.syncBatches.flatMap(({ syncBatchId, state, message }) =>
    state === "processed" ? [[syncBatchId, message] as const] : [],
  );
  return [...repeated, ...differencesById("sync batch", new Map<string, unknown>(booked), new Map(known))];
}

function reportDifferences({ documents }: ServiceBooks, { report }: LedgerContents, day: string): string[] {
  const signed = documents.filter(({ status, saleDate }) => status === "completed" && saleDate === day);
  if (report === undefined) return signed.length === 0 ? [] : ["the ledger has no report of the business"];
  const { sales, creditNotes } = report;
  return (
    [
      ["sales", signed.filter(({ type }) => type === "sale"), sales],
      ["credit notes", signed.filter(({ type }) => type === "credit_note"), creditNotes],
      ["net", signed, report.net],
    ] as const
  ).flatMap(([name, booked, reported]) => {
    const right = amountsOf(booked);
    const found = { ...inNumbers(reported) };
    return isDeepStrictEqual(right, found)
      ? []
      : [`the report says of ${name} ${JSON.stringify(found)}, and the service's books ${JSON.stringify(right)}`];
  });
}

function amountsOf(documents: ServiceBooks["documents"]): Record<keyof Amounts, number> {
  const sum = (field: "total" | "taxableAmount" | "taxAmount"): number =>
    sumOf(documents.map(({ totals }) => totals[field]));
  return {
    count: documents.length,
    total: sum("total"),
    taxableAmount: sum("taxableAmount"),
    taxAmount: sum("taxAmount"),
  };
}

function inNumbers({ count, total, taxableAmount, taxAmount }: Amounts): Record<keyof Amounts, number> {
  return { count, total: Number(total), taxableAmount: Number(taxableAmount), taxAmount: Number(taxAmount) };
}

/** @param noun what stands before the id */
function differencesById(noun: string, booked: ReadonlyMap<string, unknown>, known: ReadonlyMap<string, unknown>) {
  const ids = [...new Set([...booked.keys(), ...known.keys()])];
  return ids.flatMap((id) => {
    if (!known.has(id)) return [`the ${noun} ${id} is not in the ledger`];
    if (!booked.has(id)) return [`the ledger has the ${noun} ${id}, of which the service knows nothing`];
    return isDeepStrictEqual(asJson(booked.get(id)), asJson(known.get(id)))
      ? []
      : [`the ${noun} ${id} is another in the ledger than at the service`];
  });
}

/** As it travels: a field without a value is none. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
