import type { Queries } from "../database.ts";
import type { Business, NewEvent, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import type { Change, Collection, PastChange } from "./collection.ts";

type EventNames = Pick<Collection<never>, "events">;

export interface Content {
  changes: Change[];
  /** All that the service answered, where it is new, so that the row can be compared with it. */
  entry?: unknown;
}

export function subjectOf({ events }: EventNames, id: string): string {
  return `${events.noun} ${id}`;
}

/** A look that brought something new. */
export function seenEvent(
  collection: EventNames,
  { id, changes, body }: { id: string; changes: Change[]; body?: string | undefined },
  writer: Writer,
): NewEvent {
  const { seen: kind, entry } = collection.events;
  const content = { changes, ...(body !== undefined && { [entry]: JSON.parse(body) as unknown }) };
  return { kind, subject: subjectOf(collection, id), content, writer };
}

/** A look at everything that did not find it. */
export function missingEvent(collection: EventNames, id: string, writer: Writer): NewEvent {
  const changes: Change[] = [{ what: "missing", before: null, after: null }];
  return { kind: collection.events.missing, subject: subjectOf(collection, id), content: { changes }, writer };
}

export function contentOf({ events }: EventNames, text: string): Content {
  const content = JSON.parse(text) as Content & Record<string, unknown>;
  return { changes: content.changes, entry: content[events.entry] };
}

/** Oldest first. */
export async function historyOf(
  db: Queries,
  collection: EventNames & Pick<Collection<never>, "chainOf">,
  business: Business,
  id: string,
): Promise<PastChange[]> {
  const chain = businessColumns(collection.chainOf(business));
  const rows = await db
    .selectFrom("events")
    .select(["at", "content", "workflow_id", "run_id"])
    .where((eb) => eb.and(chain))
    .where("subject", "=", subjectOf(collection, id))
    .where("kind", "in", [collection.events.seen, collection.events.missing])
    .orderBy("number")
    .execute();
  return rows.flatMap(({ at, content, workflow_id: workflowId, run_id: runId }) => {
    const { changes } = contentOf(collection, content);
    return changes.map((change) => ({ atMs: at.getTime(), ...change, writer: { workflowId, runId } }));
  });
}
