import { type Attention, balanceAgainst, nairobiTime } from "../../contract/index.ts";

/**
 * What the item's balance says of a movement of unknown outcome, in words. Evidence and no more: other tills and the
 * dashboard move the balance too. Where no balance is known, `whatToDo` says so.
 */
export function balanceLines({ code, evidence = {} }: Attention): string[] {
  if (code !== "stock-unknown") return [];
  const { lastQuantityOnHand, lastSeenAt, laterQuantityOnHand, laterSeenAt } = evidence;
  const before = balanceAt(lastQuantityOnHand, lastSeenAt);
  const after = balanceAt(laterQuantityOnHand, laterSeenAt);
  const lines = [
    ...(before === undefined ? [] : [`Last balance before it was sent: ${before}.`]),
    ...(after === undefined ? [] : [`First balance after it: ${after}${expectation(evidence)}.`]),
  ];
  const speaks = after === undefined ? undefined : SPEAKS[String(evidence["balanceSpeaks"])];
  return speaks === undefined ? lines : [...lines, `${speaks} ${CAVEAT}`];
}

/** What to tell whoever answers against what the balance says; undefined where it does not say the opposite. */
export function contradiction(attention: Attention, applied: boolean): string | undefined {
  if (!balanceAgainst(attention.evidence ?? {}, applied)) return undefined;
  const risk = applied
    ? "If it was not applied, the stock stays wrong: it is not sent again."
    : "If it was applied, it is applied twice: it is sent again.";
  return ["Warning: the balance speaks against this answer.", ...balanceLines(attention), risk].join("\n  ");
}

const CAVEAT = "Other tills and the dashboard move it too, so look before you answer.";

const SPEAKS: Readonly<Record<string, string>> = {
  for: "The balance speaks for it: it was probably applied.",
  against: "The balance speaks against it: it was probably not applied.",
  neither: "The balance speaks neither for it nor against it.",
};

function balanceAt(quantity: unknown, at: unknown): string | undefined {
  if (typeof quantity !== "number") return undefined;
  const atMs = typeof at === "string" ? Date.parse(at) : Number.NaN;
  return Number.isNaN(atMs) ? String(quantity) : `${quantity} (${nairobiTime(atMs)})`;
}

function expectation({ expectedIfApplied, expectedIfNot }: Record<string, unknown>): string {
  if (typeof expectedIfApplied !== "number" || typeof expectedIfNot !== "number") return "";
  return `; ${expectedIfApplied} was expected if it was applied, ${expectedIfNot} if not`;
}
