import type { DocumentKey, MovementKey } from "../index.ts";
import type { OutsideClient } from "./outside-client.ts";

/** What the events tell of a document's claim, oldest first. */
export function claimEventsOf(outside: OutsideClient, { of: { type, number }, ...business }: DocumentKey) {
  return eventsOf(outside, business, `${type} ${number}`, "document-");
}

/** The same of a movement's. */
export function movementEventsOf(outside: OutsideClient, { referenceId, ...business }: MovementKey) {
  return eventsOf(outside, business, `movement ${referenceId}`, "movement-");
}

interface Told {
  what: string;
  intent: number;
  generation: number;
  detail?: Record<string, unknown>;
}

async function eventsOf(
  outside: OutsideClient,
  { connection, businessId }: Pick<MovementKey, "connection" | "businessId">,
  subject: string,
  kinds: string,
): Promise<Told[]> {
  const { rows } = await outside.query(
    `select kind, content from events where connection = $1 and business_id = $2 and subject = $3
      and kind like $4 and kind <> 'document-saved' order by number`,
    [connection, businessId, subject, `${kinds}%`],
  );
  return rows.map(({ kind, content }) => ({
    what: String(kind).slice(kinds.length),
    ...JSON.parse(String(content)),
  }));
}
