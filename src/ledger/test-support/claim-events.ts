import type { DocumentKey } from "../documents/claims.ts";
import type { OutsideClient } from "./outside-client.ts";

/** What the events tell of a document's claim, oldest first. */
export async function claimEventsOf(
  outside: OutsideClient,
  { connection, businessId, of: { type, number } }: DocumentKey,
): Promise<{ what: string; intent: number; detail?: Record<string, unknown> }[]> {
  const { rows } = await outside.query(
    `select kind, content from events where connection = $1 and business_id = $2 and subject = $3
      and kind like 'document-%' and kind <> 'document-saved' order by number`,
    [connection, businessId, `${type} ${number}`],
  );
  return rows.map(({ kind, content }) => ({
    what: String(kind).slice("document-".length),
    ...JSON.parse(String(content)),
  }));
}
