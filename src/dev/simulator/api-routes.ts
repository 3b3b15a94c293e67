import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { notFound } from "./api-error.ts";
import { deliver, stringsOf } from "./deliver.ts";
import type { Operation, RawCall } from "./operation.ts";
import { businessOperations } from "./routes/businesses.ts";
import { creditNoteOperations } from "./routes/credit-notes.ts";
import { extraOperations } from "./routes/extras.ts";
import { itemOperations } from "./routes/items.ts";
import { purchaseOperations } from "./routes/purchases.ts";
import { salesOperations } from "./routes/sales.ts";
import { stockOperations } from "./routes/stock.ts";
import { serveCall } from "./serve-call.ts";
import type { World } from "./world.ts";

const unknownOperation: Operation = {
  name: "unknown",
  method: "GET",
  path: "*",
  scope: null,
  businessIdIn: "query",
  handle: () => {
    throw notFound("Path");
  },
};

function rawCall(request: FastifyRequest): RawCall {
  return {
    method: request.method,
    path: request.url.split("?")[0] ?? "",
    headers: request.headers,
    params: stringsOf(request.params),
    query: stringsOf(request.query),
    body: typeof request.body === "string" ? request.body : "",
  };
}

/** All that the API offers. */
export function operationsOf(world: World): Operation[] {
  return [
    ...salesOperations(world),
    ...creditNoteOperations(world),
    ...stockOperations(world),
    ...itemOperations(world),
    ...purchaseOperations(world),
    ...businessOperations(world),
    ...extraOperations(world),
  ];
}

/** The API's operations on a server; every call is logged before anything else happens to it. */
export function addApiRoutes(server: FastifyInstance, world: World): void {
  const answer =
    (operation: Operation) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const call = rawCall(request);
      const key = request.headers["idempotency-key"];
      const entry = world.calls.open({
        atMs: world.nowMs(),
        operation: operation.name,
        method: call.method,
        path: call.path,
        idempotencyKey: typeof key === "string" ? key : null,
      });
      world.changes.announce();
      deliver(reply, await serveCall(world, operation, call, entry), entry);
      world.changes.announce();
      return reply;
    };

  // Bodies stay text: a wrong body is for the operation to refuse, after the key was looked at.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  for (const operation of operationsOf(world))
    server.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      handler: answer(operation),
    });
  server.setNotFoundHandler(answer(unknownOperation));
  server.setErrorHandler(async (error, _request, reply) => {
    const message = error instanceof Error ? error.message : String(error);
    await reply.code(500).send({ error: { code: "simulator_error", message } });
  });
}
