import { z } from "zod";

import { isCalendarDate } from "../nairobi-date.ts";

/** A date that exists, written `YYYY-MM-DD`. */
export const calendarDate = z
  .string({ error: "expected a date written YYYY-MM-DD" })
  .refine(isCalendarDate, { error: "expected a date that exists, written YYYY-MM-DD" });
