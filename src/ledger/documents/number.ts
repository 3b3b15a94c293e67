import type { NumberWish } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import type { NumberOwner } from "./claims.ts";
import { insertRow, NOTHING_SENT, recordEvent } from "./row.ts";

/** A row that is never changed: whoever inserts it has the number. It has no intent, since it is no wish for a document. */
const NO_INTENT = 0;

/**
 * Takes a number for its sale, where nobody has. Of several at once the row's primary key lets one through, and the others wait for it.
 * @returns the sale that has it, where it is another one
 */
export async function takeNumber(
  db: Queries,
  { claim, number, saleId, sale }: NumberWish,
  { holder, nowMs }: { holder: string; nowMs: number },
): Promise<NumberOwner | undefined> {
  const owner = { number, saleId, sale };
  const content = storableText(saleId);
  const row = {
    workflow_id: claim,
    intent: NO_INTENT,
    state: "unsent" as const,
    ...NOTHING_SENT,
    content,
    request: storableText(JSON.stringify(owner)),
    holder,
    document_id: null,
    decision: null,
  };
  if (await insertRow(db, row)) {
    const detail = { ...owner, holder, nowMs };
    await recordEvent(db, claim, { intent: NO_INTENT, what: "number-taken", detail });
    return undefined;
  }
  const kept = await db
    .selectFrom("document_claims")
    .select(["content", "request", "holder"])
    .where("workflow_id", "=", claim)
    .executeTakeFirstOrThrow();
  if (kept.content === content) return undefined;
  const { saleId: ownerId, sale: ownerNumber } = JSON.parse(kept.request ?? "{}") as NumberWish;
  return { saleId: ownerId, sale: ownerNumber, holder: kept.holder ?? "" };
}
