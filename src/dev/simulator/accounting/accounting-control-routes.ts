import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { parseInstruction } from "../problems.ts";
import { type AccountingControls, accountingSettingsPatchSchema } from "./accounting-controls.ts";
import { hiddenFactsSchema } from "./scenario.ts";

const withId = z.object({ id: z.string() });
const withName = z.object({ name: z.string() });
const facts = hiddenFactsSchema.partial().optional();
const addition = z.strictObject({ body: z.record(z.string(), z.unknown()), facts });
const change = z.strictObject({ patch: z.record(z.string(), z.unknown()).default({}), facts });
const generation = z.strictObject({ count: z.number().int().min(0), seed: z.number().int().optional() });
const callFilter = z.strictObject({ operation: z.string().optional() });
const webhook = z.strictObject({
  url: z.string(),
  secret: z.string(),
  event: z.record(z.string(), z.unknown()),
  eventId: z.string().optional(),
  timestampMs: z.number().optional(),
  flippedByte: z.number().int().min(0).optional(),
});

function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  return parseInstruction("control call", schema, value ?? {});
}

/** Drops what is undefined: the patches say only what they change. */
function named<T extends object>(
  value: T | undefined,
): { [Name in keyof T]: NonNullable<T[Name]> | Extract<T[Name], null> } {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, entry]) => entry !== undefined)) as never;
}

/** The accounting service's controls over HTTP. */
export function addAccountingControlRoutes(server: FastifyInstance, controls: AccountingControls): void {
  const done = { ok: true };
  server.get("/bill-payments", () => controls.billPayments());
  server.post("/bill-payments", (request) => {
    const { body, facts: hidden } = read(addition, request.body);
    return controls.addBillPayment(body, named(hidden));
  });
  server.patch("/bill-payments/:id", (request) => {
    const { patch, facts: hidden } = read(change, request.body);
    return controls.changeBillPayment(read(withId, request.params).id, patch, named(hidden));
  });
  server.delete("/bill-payments/:id", (request) => ({
    removed: controls.removeBillPayment(read(withId, request.params).id),
  }));
  server.post("/bill-payments/generate", (request) => {
    const { count, seed } = read(generation, request.body);
    return { total: controls.generateBillPayments(count, seed) };
  });
  server.get("/sync-batches", () => controls.syncBatches());
  server.post("/sync-batches", (request) => {
    controls.addSyncBatch(request.body);
    return done;
  });
  server.patch("/applications/:name", (request) => {
    controls.setApplication(read(withName, request.params).name, request.body);
    return done;
  });
  server.get("/calls", (request) => controls.calls(read(callFilter, request.query).operation));
  server.post("/calls/reset", () => {
    controls.resetCalls();
    return done;
  });
  server.patch("/settings", (request) => {
    controls.changeSettings(named(read(accountingSettingsPatchSchema, request.body)));
    return done;
  });
  server.get("/webhooks", () => controls.webhooks());
  server.post("/webhooks", (request) => controls.sendWebhook(read(webhook, request.body)));
  server.post("/faults", (request) => ({ id: controls.inject(request.body) }));
  server.delete("/faults/:id", (request) => ({
    removed: controls.removeFault(Number(read(withId, request.params).id)),
  }));
  server.post("/faults/clear", () => {
    controls.clearFaults();
    return done;
  });
}
