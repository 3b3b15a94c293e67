import { sql } from "kysely";

import type { FindingKind } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Business, NewEvent, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";

export interface Found {
  kind: FindingKind;
  subject: string;
  reason: string;
  nextStep: string;
}

/**
 * Keeps findings, each once, and tells of those that are new, or other than before, in the business's events. At most
 * 1,000 at a time.
 */
export async function keepFindings(
  db: Queries,
  business: Business,
  found: readonly Found[],
  writer: Writer,
): Promise<void> {
  if (found.length === 0) return;
  const scope = businessColumns(business);
  const known = await db
    .selectFrom("reconcile_findings")
    .select(["kind", "subject", "reason", "gone_at", "event_number", "since"])
    .where((eb) => eb.and(scope))
    .where(sql<boolean>`subject = any(${found.map(({ subject }) => storableText(subject))})`)
    .execute();
  const before = new Map(known.map((row) => [`${row.kind} ${row.subject}`, row]));
  const standing = (one: Found) => {
    const row = before.get(`${one.kind} ${storableText(one.subject)}`);
    return row?.gone_at === null && row.reason === storableText(one.reason) ? row : undefined;
  };
  const news = found.filter((one) => !standing(one));
  const numbers = await appendEvents(
    db,
    business,
    news.map((one) => eventOf("finding-raised", one, writer)),
  );
  const numberOf = new Map(news.map((one, index) => [one, numbers[index] ?? 0]));
  const wrote = { workflow_id: storableText(writer.workflowId), run_id: storableText(writer.runId) };
  await db
    .insertInto("reconcile_findings")
    .values(
      found.map((one) => ({
        ...scope,
        kind: one.kind,
        subject: storableText(one.subject),
        reason: storableText(one.reason),
        next_step: one.nextStep,
        since: standing(one)?.since ?? sql<Date>`clock_timestamp()`,
        seen_by: seenBy(writer),
        gone_at: null,
        event_number: numberOf.get(one) ?? Number(standing(one)?.event_number ?? 0),
        ...wrote,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["connection", "business_id", "kind", "subject"]).doUpdateSet((eb) => ({
        reason: eb.ref("excluded.reason"),
        next_step: eb.ref("excluded.next_step"),
        since: eb.ref("excluded.since"),
        seen_by: eb.ref("excluded.seen_by"),
        gone_at: null,
        event_number: eb.ref("excluded.event_number"),
        ...wrote,
      })),
    )
    .execute();
}

/** Which run of the workflow, over all its continuations, has seen it. */
export function seenBy({ workflowId, runId }: Writer): string {
  return storableText(`${workflowId} ${runId}`);
}

/** What was found before and is not any more. */
export async function clearFindings(
  db: Queries,
  business: Business,
  which: { kinds: readonly FindingKind[]; subject?: string; except?: readonly FindingKind[]; notSeenBy?: string },
  writer: Writer,
): Promise<void> {
  const scope = businessColumns(business);
  const kinds = which.kinds.filter((kind) => !which.except?.includes(kind));
  if (kinds.length === 0) return;
  let query = db
    .updateTable("reconcile_findings")
    .set({ gone_at: sql<Date>`clock_timestamp()` })
    .where((eb) => eb.and(scope))
    .where("gone_at", "is", null)
    .where("kind", "in", kinds);
  if (which.subject !== undefined) query = query.where("subject", "=", storableText(which.subject));
  if (which.notSeenBy !== undefined) query = query.where("seen_by", "<>", which.notSeenBy);
  const gone = await query.returning(["kind", "subject", "reason", "next_step"]).execute();
  const events = gone.map(({ kind, subject, reason, next_step: nextStep }) =>
    eventOf("finding-gone", { kind, subject, reason, nextStep }, writer),
  );
  await appendEvents(db, business, events);
}

function eventOf(kind: "finding-raised" | "finding-gone", found: Found, writer: Writer): NewEvent {
  return { kind, subject: `${found.kind} ${found.subject}`, content: found, writer };
}
