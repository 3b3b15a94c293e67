import type { Evidence } from "./evidence.ts";
import type { KeptDocument, KeptMovement } from "./kept-ledger.ts";
import { answeredWithWrongTypes, isDecidedByHand } from "./movements.ts";

/** Once every sale has come to its end, each document of the books is in the ledger as it is there, and no other. */
export function documentsKeptWrongly({ books, ledger }: Evidence): string[] {
  const nameOf = (businessId: string, type: string, number: string): string => [businessId, type, number].join(" ");
  const kept = new Map<string, KeptDocument>();
  for (const one of ledger.documents)
    if (one.documentId !== null) kept.set(nameOf(one.businessId, one.type, one.number), one);
  const found = books.documents.flatMap(({ businessId, type, traderInvoiceNumber, id, status, totals }) => {
    const name = nameOf(businessId, type, traderInvoiceNumber);
    const row = kept.get(name);
    kept.delete(name);
    if (!row) return [`${name}: is ${id} in the books, and not in the ledger`];
    const same = row.documentId === id && row.status === status && sameMoney(row.total, totals.total);
    if (same) return [];
    return [`${name}: is ${row.documentId} ${row.status} ${row.total}, in the books ${id} ${status} ${totals.total}`];
  });
  return [...found, ...[...kept.keys()].map((name) => `${name}: is in the ledger, and not in the books`)];
}

/**
 * Each movement that was applied is in the ledger as one that was, and no other. Of an answer with wrong types nobody
 * knows better.
 */
export function movementsKeptWrongly(evidence: Evidence): string[] {
  const { books, ledger } = evidence;
  const wrongTypes = new Set(answeredWithWrongTypes(evidence));
  const kept = new Map<string, KeptMovement>();
  for (const one of ledger.movements) if (one.state === "applied") kept.set(one.referenceId, one);
  const found = books.movements.flatMap((movement) => {
    const referenceId = String(movement.referenceId);
    const row = kept.get(referenceId);
    kept.delete(referenceId);
    if (wrongTypes.has(referenceId) || isDecidedByHand(evidence, referenceId)) return [];
    if (!row) return [`${referenceId}: was applied, and the ledger does not say so`];
    const [reported, made] = [
      [row.businessId, row.itemId, row.action, Number(row.quantity)],
      [movement.businessId, movement.itemId, movement.action, movement.quantity],
    ].map((parts) => parts.join(" "));
    if (reported !== made) return [`${referenceId}: is ${reported} in the ledger, in the books ${made}`];
    // What an operator said of an unknown movement names none.
    if (row.movementId === null || row.movementId === movement.movementId) return [];
    return [`${referenceId}: is ${row.movementId} in the ledger, in the books ${movement.movementId}`];
  });
  const extra = [...kept.keys()].filter(
    (referenceId) => !wrongTypes.has(referenceId) && !isDecidedByHand(evidence, referenceId),
  );
  return [...found, ...extra.map((referenceId) => `${referenceId}: the ledger calls it applied, and it was not`)];
}

/** `ledger verify` finds nothing in the events and rows of any business, and each that has documents has events. */
export function ledgerFindings({ books, ledger }: Evidence): string[] {
  const found = ledger.chains.flatMap(({ connection, businessId, findings }) =>
    findings.map((finding) => `${connection}/${businessId}: ${JSON.stringify(finding)}`),
  );
  const chained = new Set(ledger.chains.filter(({ events }) => events > 0).map(({ businessId }) => businessId));
  const businesses = new Set(books.documents.map(({ businessId }) => businessId));
  const without = [...businesses].filter((businessId) => !chained.has(businessId));
  return [...found, ...without.map((businessId) => `${businessId}: has documents, and no events`)];
}

function sameMoney(kept: string | null, reported: number): boolean {
  return kept !== null && Math.abs(Number(kept) - reported) < 0.01;
}
