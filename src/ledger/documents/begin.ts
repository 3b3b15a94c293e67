import { type RawBuilder, sql } from "kysely";

import { underWay, untilItIsOver } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { insertRowFrom } from "../statements.ts";
import { cleanText } from "../storable-text.ts";
import type { BeginAnswer, BeginRequest, DocumentClaims } from "./claims.ts";
import { numberTaking, takeNumber } from "./number.ts";
import {
  checkIntent,
  decisionOf,
  type DocumentRow,
  eventsOf,
  insertRow,
  lockRow,
  recordEvent,
  updateRow,
} from "./row.ts";

/**
 * The states of an intent, and who moves it on:
 *
 * - none, unsent → in-doubt (begin)
 * - in-doubt → unsent, nothing, document (settle, decide)
 * - nothing, unsent → in-doubt under a higher intent (begin)
 * - nothing, unsent → document, when it shows up late (settle, decide); document is the end
 */
export async function begin(db: Queries, request: BeginRequest): Promise<BeginAnswer> {
  const { claim, event, answer: first } = firstOf(request);
  const { workflowId, nowMs } = request;
  const owner = request.number && (await takeNumber(db, request.number, { holder: claim.holder, nowMs }));
  if (owner) {
    // What went out before anybody knew whose the number is does not cease to be this workflow's.
    const row = await lockRow(db, workflowId);
    return (row && (await standing(db, request, row))) ?? { kind: "number-taken", ...owner };
  }
  if (!(await insertRow(db, { workflow_id: workflowId, ...claim, document_id: null }))) {
    const row = await lockRow(db, workflowId);
    if (row === undefined) throw new Error("a claim vanished: rows are never deleted");
    const answer = await standing(db, request, row);
    if (answer !== undefined) return answer;
    await updateRow(db, workflowId, claim);
  }
  await recordEvent(db, workflowId, event);
  return first;
}

/**
 * The first request of all, under a number that nobody has, in one statement.
 * @returns undefined where anything of it is there: then nothing is written, or, where others come at the same moment,
 * the number alone
 */
export async function beginFirst(db: Queries, request: BeginRequest): Promise<BeginAnswer | undefined> {
  const { claim, event, answer } = firstOf(request);
  const { workflowId, number, nowMs } = request;
  const row = { workflow_id: workflowId, ...claim, document_id: null };
  const insertOnce = (one: Readonly<Record<string, unknown>>, where: RawBuilder<unknown>) =>
    sql`(${insertRowFrom("document_claims", one)} ${where} on conflict (workflow_id) do nothing returning workflow_id)`;
  const taking = number && numberTaking(number, { holder: claim.holder, nowMs });
  const isNew = sql`where not exists (select from document_claims where workflow_id = ${workflowId})`;
  const { rows } = taking
    ? await sql`
        with number as ${insertOnce(taking.row, isNew)}, claim as ${insertOnce(row, sql`from number`)}
        insert into document_claim_events (workflow_id, intent, what, detail)
        ${eventsOf("number", taking.event)} union all ${eventsOf("claim", event)} returning what`.execute(db)
    : await sql`
        with claim as ${insertOnce(row, isNew)}
        insert into document_claim_events (workflow_id, intent, what, detail)
        ${eventsOf("claim", event)} returning what`.execute(db);
  return rows.length === (taking ? 2 : 1) ? answer : undefined;
}

/** What is written, and answered, where nothing stands in the way. */
function firstOf(request: BeginRequest) {
  checkIntent(request.intent);
  const { workflowId, intent, idempotencyKey, content, nowMs } = request;
  const text: string | undefined = JSON.stringify(request.request);
  if (text === undefined) throw new LedgerError(`The request of ${workflowId} is no JSON.`);
  const claim = {
    intent,
    state: "in-doubt" as const,
    idempotency_key: idempotencyKey ?? null,
    content,
    request: text,
    first_sent_at: new Date(nowMs),
    holder: cleanText(request.holder),
    execution: request.execution,
    under_way_until: untilItIsOver(request.underWayForMs),
    decision: null,
  };
  const event = {
    intent,
    what: "begun",
    detail: { idempotencyKey, content, holder: claim.holder, execution: claim.execution, nowMs },
  };
  const answer = { kind: "send", request: JSON.parse(text) as unknown, firstSentAtMs: nowMs, first: true } as const;
  return { claim, event, answer };
}

/** Undefined: nothing of this intent is out, and nothing of an earlier one. */
async function standing(db: Queries, request: BeginRequest, row: DocumentRow): Promise<BeginAnswer | undefined> {
  const { intent, content } = request;
  const decision = decisionOf(row);
  if (row.document_id !== null) return { kind: "known", documentId: row.document_id, ...decision };
  if (intent < row.intent) return { kind: "behind", intent: row.intent - 1, ...decision };
  if (row.state !== "in-doubt") {
    return intent === row.intent && row.state === "nothing" ? { kind: "behind", intent, ...decision } : undefined;
  }
  const kept: unknown = JSON.parse(row.request ?? "null");
  const firstSentAtMs = row.first_sent_at?.getTime() ?? request.nowMs;
  const { idempotencyKey = null } = request;
  const isKeyed = idempotencyKey !== null;
  // The service does not know a key that the first one was sent without.
  if (intent > row.intent || row.content !== content || isKeyed !== (row.idempotency_key !== null))
    return (await underWay(db, row)) ?? { kind: "different", content: row.content ?? "", request: kept, firstSentAtMs };
  if (row.idempotency_key !== idempotencyKey)
    throw new LedgerError(
      `Intent ${intent} of ${request.workflowId} is in doubt under the key ${row.idempotency_key}, and is wanted again under ` +
        `${idempotencyKey}: that could make a second document.`,
    );
  // The very call that is kept: its answer was lost, so nothing was sent on the strength of it.
  const first = row.execution === request.execution;
  if (!first) {
    const other = await underWay(db, row);
    const { repeatableForMs, nowMs } = request;
    if (repeatableForMs === 0 || nowMs > firstSentAtMs + repeatableForMs)
      return other ?? { kind: "doubtful", firstSentAtMs };
    // While two are under way neither says by its end that nothing is.
    const execution = other ? null : request.execution;
    const until = sql<Date>`greatest(under_way_until, ${untilItIsOver(request.underWayForMs)})`;
    await updateRow(db, request.workflowId, { execution, under_way_until: until });
  }
  return { kind: "send", request: kept, firstSentAtMs, first };
}

export async function ended(db: Queries, request: Parameters<DocumentClaims["ended"]>[0]): Promise<void> {
  const { workflowId, intent, execution } = request;
  await db
    .updateTable("document_claims")
    .set({ under_way_until: null })
    .where((eb) => eb.and({ workflow_id: workflowId, intent, execution }))
    .execute();
}
