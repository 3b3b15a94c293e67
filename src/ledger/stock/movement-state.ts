import { type RawBuilder, sql } from "kysely";

/** Whether nobody can be at the call of the movement `m` any more. */
export const IS_KNOWN_OVER: RawBuilder<boolean> = sql<boolean>`coalesce(m.under_way_until < clock_timestamp(), true)`;

/** Whether the service refused the movement `m`, and it was not merely put off: it is sent again only if a person says so. */
export const IS_REFUSED: RawBuilder<boolean> = sql<boolean>`(
  m.state = 'not-applied' and m.outcome is not null and m.outcome ->> 'putOff' is null)`;
