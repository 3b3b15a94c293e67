import { isDeepStrictEqual } from "node:util";

import { type BillPayment, DEFAULT_CONNECTION, ITEM_OUTCOMES, type Purchase } from "../../src/contract/index.ts";
import type { DemoStack } from "../../src/dev/demo/start-demo-stack.ts";
import type { Simulator } from "../../src/dev/simulator/index.ts";
import type { KeptBatch, KeptEntry, KeptItemOutcome } from "../../src/ledger/index.ts";

/** What the ledger has kept otherwise than the simulator's own books say, in words. */
export async function compareWithLedger(stack: DemoStack): Promise<string[]> {
  return differences(readServiceBooks(stack), await readLedgerContents(stack));
}

/** What the two services know, as the simulator's own books say. */
interface ServiceBooks {
  readonly items: ReturnType<Simulator["items"]>;
  readonly purchases: ReturnType<Simulator["purchases"]>;
  readonly billPayments: ReturnType<Simulator["accounting"]["billPayments"]>;
  readonly syncBatches: ReturnType<Simulator["accounting"]["syncBatches"]>;
}

/** What the product has kept of it. */
interface LedgerContents {
  readonly items: readonly KeptItemOutcome[];
  readonly purchases: readonly KeptEntry<Purchase>[];
  readonly billPayments: readonly KeptEntry<BillPayment>[];
  readonly syncBatches: readonly KeptBatch[];
}

function readServiceBooks({ plan, simulator }: DemoStack): ServiceBooks {
  return {
    items: simulator.items(plan.business.id),
    purchases: simulator.purchases(),
    billPayments: simulator.accounting.billPayments(),
    syncBatches: simulator.accounting.syncBatches(),
  };
}

/** Far more than a demo has. */
const ALL = 10_000;

/** @throws LedgerUnavailableError */
async function readLedgerContents({ plan, ledger }: DemoStack): Promise<LedgerContents> {
  const connection = DEFAULT_CONNECTION;
  const business = { connection, businessId: plan.business.id };
  const batches = await Promise.all(
    plan.scenario.accounting.syncBatches.map(({ id }) => ledger.syncBatches.read({ connection, syncBatchId: id })),
  );
  return {
    items: await ledger.items.page(business, { kinds: ITEM_OUTCOMES, most: ALL }),
    purchases: await ledger.purchases.page(business, { most: ALL }),
    billPayments: await ledger.billPayments.page({ connection }, { most: ALL }),
    syncBatches: batches.flatMap((batch) => (batch === undefined ? [] : [batch])),
  };
}

/**
 * Holds what the ledger has kept against the simulator's own books: every item, purchase, bill payment and sync batch.
 * Returns each difference in words; none means that they agree.
 */
function differences(books: ServiceBooks, ledger: LedgerContents): string[] {
  return [
    ...itemDifferences(books, ledger),
    ...purchaseDifferences(books, ledger),
    ...billPaymentDifferences(books, ledger),
    ...batchDifferences(books, ledger),
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
    .map(({ businessId: _businessId, stored: _stored, ...shown }) => [shown.id, shown] as const);
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
