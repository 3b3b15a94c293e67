import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Controls } from "../controls.ts";
import { InstructionError } from "../problems.ts";
import { triggerFault } from "../triggers.ts";
import type { World } from "../world.ts";
import { renderPage } from "./render-page.ts";

const HERE = "/";

/** The page for whoever develops against the simulator, and what its buttons do: not counted, not authenticated. */
export function addPageRoutes(server: FastifyInstance, world: World, controls: Controls): void {
  server.setErrorHandler(async (error, _request, reply) => {
    const message = error instanceof Error ? error.message : String(error);
    await reply.code(error instanceof InstructionError ? 400 : 500).send({ error: { message } });
  });
  // The buttons' forms have no field.
  server.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, _body, done) =>
    done(null, null),
  );
  server.get(HERE, async (request, reply) => {
    const html = renderPage(world, `${request.protocol}://${request.host}`);
    return await reply.type("text/html; charset=utf-8").send(html);
  });
  server.post("/trigger/:name", async (request, reply) => {
    const { name } = z.object({ name: z.string() }).parse(request.params);
    controls.inject(triggerFault(name, {}));
    return await reply.redirect(HERE, 303);
  });
  server.post("/end/:id", async (request, reply) => {
    const { id } = z.object({ id: z.coerce.number() }).parse(request.params);
    controls.removeFault(id);
    return await reply.redirect(HERE, 303);
  });
}
