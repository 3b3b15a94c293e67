import { differsByMoreThan, type StockAction, sumOf, type UnknownOutcome } from "../../src/contract/index.ts";
import { type BalanceEvidence, type Ledger, LedgerUnavailableError, type MovementKey } from "../../src/ledger/index.ts";

/** Quantities are compared as exactly as JSON writes them. */
const EXACT = 0;

/** Shows the last balance with a movement of unknown outcome. It is evidence alone, so it may be missing. */
export async function withLastBalance<Known extends { kind: string }>(
  { stock }: Ledger,
  key: MovementKey,
  answer: Known | UnknownOutcome,
): Promise<Known | UnknownOutcome> {
  if (!isUnknown(answer)) return answer;
  try {
    return { ...answer, evidence: { ...answer.evidence, ...lastBalance(await stock.balanceAround(key)) } };
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return answer;
    throw error;
  }
}

function isUnknown(answer: { kind: string }): answer is UnknownOutcome {
  return answer.kind === "unknown";
}

/** The balance that was seen last before an unknown movement was sent. Evidence, never a decision. */
export function lastBalance(balance: BalanceEvidence | undefined): Record<string, unknown> {
  if (!balance?.before) return {};
  const { quantityOnHand, atMs } = balance.before;
  return { lastQuantityOnHand: quantityOnHand, lastSeenAt: new Date(atMs).toISOString() };
}

/**
 * Whether the first balance after an unknown movement speaks for or against it: what it would be with the movement, and
 * what without, from the last balance before and the movements in between. `neither`: it is none of the two, or another
 * unknown movement lies between.
 */
export function laterBalance(
  balance: BalanceEvidence | undefined,
  movement: { action: StockAction; quantity: number },
): Record<string, unknown> | undefined {
  if (!balance?.after) return undefined;
  const { before, after, between } = balance;
  const seen = { laterQuantityOnHand: after.quantityOnHand, laterSeenAt: new Date(after.atMs).toISOString() };
  if (!before) return { ...lastBalance(balance), ...seen, balanceSpeaks: "neither" };
  const without = sumOf([before.quantityOnHand, ...between.map(signed)]);
  const withIt = sumOf([without, signed(movement)]);
  const clouded = between.some(({ state }) => state === "unknown");
  const is = (expected: number): boolean => !differsByMoreThan(EXACT, after.quantityOnHand, expected);
  const speaks = clouded ? "neither" : is(withIt) ? "for" : is(without) ? "against" : "neither";
  return { ...lastBalance(balance), ...seen, expectedIfApplied: withIt, expectedIfNot: without, balanceSpeaks: speaks };
}

function signed({ action, quantity }: { action: StockAction; quantity: number }): number {
  return action === "ADD" ? quantity : -quantity;
}
