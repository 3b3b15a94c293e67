import { z } from "zod";

import { isCalendarDate } from "../nairobi-date.ts";

/** A date that exists, written `YYYY-MM-DD`. */
export const calendarDate = z
  .string({ error: "expected a date written YYYY-MM-DD" })
  .refine(isCalendarDate, { error: "expected a date that exists, written YYYY-MM-DD" })
  .meta({ format: "date", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" });
