/**
 * Names, inputs, results and ids on which all folders and other programs rely. No I/O is in here; the zod schemas of
 * inputs are in `schema/`, since no workflow may load them.
 *
 * Stands on: `src/contract/schema` (types).
 */
export * from "./activities.ts";
export * from "./attention.ts";
export * from "./calls.ts";
export * from "./codes.ts";
export * from "./connection.ts";
export * from "./correction.ts";
export * from "./decimal.ts";
export * from "./document-calls.ts";
export * from "./documents.ts";
export * from "./errors.ts";
export * from "./events.ts";
export * from "./ids.ts";
export * from "./input-checks.ts";
export * from "./jobs.ts";
export * from "./matching.ts";
export * from "./messages.ts";
export * from "./nairobi-date.ts";
export * from "./names.ts";
export * from "./payload-bounds.ts";
export * from "./plain-text.ts";
export * from "./sale-content.ts";
export * from "./service-trouble.ts";
export * from "./stock-movement.ts";
export * from "./synced.ts";
export * from "./updates.ts";
export type * from "./schema/job-inputs.ts";
export type * from "./schema/sale.ts";
