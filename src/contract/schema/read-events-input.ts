import { z } from "zod";

import { CURSOR_PATTERN, LONGEST_EVENT_WAIT_SECONDS, type ReadEventsInput } from "../events.ts";
import { businessIdentifier, connectionName } from "./sale-input.ts";

export const eventCursor = z
  .string()
  .regex(CURSOR_PATTERN, { error: "expected the cursor of an event, such as 120-3fa9c1d2e4b50718" });

/** Input of the `readEvents` workflow. */
export const readEventsInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  after: eventCursor.optional(),
  waitSeconds: z.number().min(0).max(LONGEST_EVENT_WAIT_SECONDS).optional(),
}) satisfies z.ZodType<ReadEventsInput>;
