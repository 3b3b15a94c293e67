import type { NumberToClaim } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import type { NumberOwner } from "./claims.ts";
import { insertRow, NOTHING_SENT, recordEvent } from "./row.ts";

/**
 * A row that is never changed: whoever inserts it has the number. It has no intent, since it is not for a document.
 */
const NO_INTENT = 0;

/** The row that says whose a number is, and what its event says. */
export function numberTaking(
  { claim, number, saleId, sale }: NumberToClaim,
  { holder, nowMs }: { holder: string; nowMs: number },
) {
  const owner = { number, saleId, sale };
  const row = {
    workflow_id: claim,
    intent: NO_INTENT,
    state: "unsent" as const,
    ...NOTHING_SENT,
    content: storableText(saleId),
    request: storableText(JSON.stringify(owner)),
    holder,
    document_id: null,
    decision: null,
  };
  return { row, event: { intent: NO_INTENT, what: "number-taken", detail: { ...owner, holder, nowMs } } };
}

/**
 * Takes a number for its sale, where nobody has. Of several at once the row's primary key lets one through, and the
 * others wait for it.
 * @returns the sale that has it, where it is another one
 */
export async function takeNumber(
  db: Queries,
  toClaim: NumberToClaim,
  by: { holder: string; nowMs: number },
): Promise<NumberOwner | undefined> {
  const { claim } = toClaim;
  const { row, event } = numberTaking(toClaim, by);
  if (await insertRow(db, row)) {
    await recordEvent(db, claim, event);
    return undefined;
  }
  const kept = await db
    .selectFrom("document_claims")
    .select(["content", "request", "holder"])
    .where("workflow_id", "=", claim)
    .executeTakeFirstOrThrow();
  if (kept.content === row.content) return undefined;
  const { saleId: ownerId, sale: ownerNumber } = JSON.parse(kept.request ?? "{}") as NumberToClaim;
  return { saleId: ownerId, sale: ownerNumber, holder: kept.holder ?? "" };
}
