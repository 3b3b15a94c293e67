import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { authorityScriptSchema, authorityStepSchema, documentStatuses } from "./authority-step.ts";
import type { Controls } from "./controls.ts";
import { InstructionError, parseInstruction } from "./problems.ts";
import {
  branchSchema,
  businessSchema,
  elsewhereSaleSchema,
  itemPatchSchema,
  itemSchema,
  keyPatchSchema,
  purchasePatchSchema,
  purchaseSchema,
} from "./scenario-schema.ts";
import { settingsPatchSchema } from "./options.ts";
import { statusExtrasSchema } from "./status-extras.ts";
import { triggerFault, triggerOptionsSchema, triggerText } from "./triggers.ts";

const withId = z.object({ id: z.string() });
const withKey = z.object({ key: z.string() });
const withName = z.object({ name: z.string() });
const callFilter = z.record(z.string(), z.string());
const authorityBody = z.union([
  z.strictObject({ invoice: z.string(), steps: authorityScriptSchema }),
  z.strictObject({ default: authorityStepSchema }),
]);
const statusBody = z.strictObject({ status: z.enum(documentStatuses), ...statusExtrasSchema.shape });
const applicationBody = z.strictObject({
  limitPerWindow: z.number().int().positive().optional(),
  suspended: z.boolean().optional(),
});

function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  return parseInstruction("control call", schema, value ?? {});
}

function addReadings(server: FastifyInstance, controls: Controls): void {
  server.get("/books", (request) => {
    const { callLog, ...books } = controls.books();
    // The log alone can be many megabytes: those who poll the books leave it out.
    return read(callFilter, request.query)["callLog"] === "0" ? books : { ...books, callLog };
  });
  server.get("/calls", (request) => ({ calls: controls.calls(read(callFilter, request.query)) }));
  server.get("/documents", (request) => ({
    documents: controls.documents(read(callFilter, request.query)["invoice"]),
  }));
  server.get("/faults", () => ({ faults: controls.activeFaults() }));
  server.get("/purchases", () => ({ purchases: controls.purchases() }));
  server.get("/businesses/:id/items", (request) => ({ items: controls.items(read(withId, request.params).id) }));
  server.get("/documents/:id/settled", async (request) => controls.settled(read(withId, request.params).id));
  server.get("/documents/:id/callback-settled", async (request) =>
    controls.callbackSettled(read(withId, request.params).id),
  );
}

function addChanges(server: FastifyInstance, controls: Controls): void {
  const done = { ok: true };
  server.post("/authority", (request) => {
    const body = read(authorityBody, request.body);
    if ("default" in body) controls.setDefaultAuthority(body.default);
    else controls.setAuthority(body.invoice, body.steps);
    return done;
  });
  server.post("/items", (request) => {
    controls.addItem(read(itemSchema, request.body));
    return done;
  });
  server.patch("/items/:id", (request) => {
    read(itemPatchSchema, request.body);
    // The raw patch, since the schema would fill in what it does not name.
    controls.updateItem(read(withId, request.params).id, Object(request.body));
    return done;
  });
  server.post("/purchases", (request) => {
    controls.addPurchase(read(purchaseSchema, request.body));
    return done;
  });
  server.patch("/purchases/:id", (request) => {
    read(purchasePatchSchema, request.body);
    controls.updatePurchase(read(withId, request.params).id, Object(request.body));
    return done;
  });
  server.delete("/purchases/:id", (request) => {
    controls.removePurchase(read(withId, request.params).id);
    return done;
  });
  server.post("/businesses", (request) => {
    controls.addBusiness(read(businessSchema, request.body));
    return done;
  });
  server.post("/businesses/:id/branches", (request) => {
    controls.addBranch(read(withId, request.params).id, read(branchSchema, request.body));
    return done;
  });
  server.post("/sales", (request) => controls.issueSale(read(elsewhereSaleSchema, request.body)));
  server.post("/documents/:id/status", (request) => {
    const { status, ...extras } = read(statusBody, request.body);
    controls.setDocumentStatus(read(withId, request.params).id, status, extras);
    return done;
  });
  server.post("/documents/:id/redeliver", (request) => {
    controls.redeliver(read(withId, request.params).id);
    return done;
  });
  server.put("/keys/:key", (request) => {
    controls.setKey(read(withKey, request.params).key, read(keyPatchSchema, request.body));
    return done;
  });
  server.delete("/keys/:key", (request) => {
    controls.setKey(read(withKey, request.params).key, null);
    return done;
  });
  server.patch("/applications/:name", (request) => {
    const { name } = read(withName, request.params);
    const { limitPerWindow, suspended } = read(applicationBody, request.body);
    if (limitPerWindow !== undefined) controls.setApplicationLimit(name, limitPerWindow);
    if (suspended !== undefined) controls.setApplicationSuspended(name, suspended);
    return done;
  });
  server.patch("/settings", (request) => {
    controls.changeSettings(read(settingsPatchSchema, request.body));
    return done;
  });
  server.post("/triggers/:name", (request) => {
    const options = read(triggerOptionsSchema, request.body);
    const fault = triggerFault(read(withName, request.params).name, options);
    return { id: controls.injectNumbered(fault), done: triggerText(fault) };
  });
  server.post("/faults", (request) => ({ id: controls.injectNumbered(request.body) }));
  server.delete("/faults/:id", (request) => ({
    removed: controls.removeFault(Number(read(withId, request.params).id)),
  }));
  const actions = {
    "/faults/clear": () => controls.clearFaults(),
    "/callbacks/pause": () => controls.pauseCallbacks(),
    "/callbacks/resume": () => controls.resumeCallbacks(),
    "/idempotency/forget": () => controls.forgetIdempotencyKeys(),
    "/calls/reset": () => controls.resetCalls(),
  };
  for (const [path, act] of Object.entries(actions))
    server.post(path, () => {
      act();
      return done;
    });
}

/**
 * The controls over HTTP, for tests whose workers run in other processes: not counted, not authenticated, not limited.
 */
export function addControlRoutes(server: FastifyInstance, controls: Controls): void {
  server.setErrorHandler(async (error, _request, reply) => {
    const status = error instanceof InstructionError ? 400 : 500;
    const message = error instanceof Error ? error.message : String(error);
    await reply.code(status).send({ error: { message } });
  });
  server.setNotFoundHandler(async (request, reply) => {
    await reply.code(404).send({ error: { message: `There is no control ${request.method} ${request.url}` } });
  });
  addReadings(server, controls);
  addChanges(server, controls);
}
