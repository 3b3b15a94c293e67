/**
 * Names, inputs, results, ids: what all folders and other programs rely on. No dependencies; the zod schemas are in
 * `schema/`.
 */
export * from "./accounting-connection.ts";
export * from "./activities.ts";
export * from "./attention.ts";
export * from "./bill-payment.ts";
export * from "./bounded-name.ts";
export * from "./calls.ts";
export * from "./claimed-calls.ts";
export * from "./closed-run.ts";
export * from "./connection.ts";
export * from "./correction.ts";
export * from "./decimal.ts";
export * from "./differences.ts";
export * from "./document-calls.ts";
export * from "./documents.ts";
export * from "./events.ts";
export * from "./find-sale.ts";
export * from "./fingerprint.ts";
export * from "./idempotency-key.ts";
export * from "./ids.ts";
export * from "./input-checks.ts";
export * from "./item-registration.ts";
export * from "./jobs.ts";
export * from "./messages.ts";
export * from "./movement-calls.ts";
export * from "./nairobi-date.ts";
export * from "./names.ts";
export * from "./outcome-of-state.ts";
export * from "./payload-bounds.ts";
export * from "./reconcile.ts";
export * from "./records.ts";
export * from "./reference-id.ts";
export * from "./restarted.ts";
export * from "./sale.ts";
export * from "./scheduled.ts";
export * from "./service-calls.ts";
export * from "./service-trouble.ts";
export * from "./service-wait.ts";
export * from "./sha256.ts";
export * from "./stages.ts";
export * from "./stock-movement.ts";
export * from "./summary.ts";
export * from "./sync-batch.ts";
export * from "./synced.ts";
export * from "./update-examples.ts";
