import fastify from "fastify";
import { addApiRoutes } from "./api-routes.ts";
import { addControlRoutes } from "./control-routes.ts";
import { createControls, type Controls } from "./controls.ts";
import { issueElsewhere } from "./issue-elsewhere.ts";
import type { SimulatorOptions } from "./options.ts";
import { createWorld } from "./world.ts";

/** A running Compliance API with its own state. */
export interface Simulator extends Controls {
  /** Base address without a slash at its end. */
  readonly url: string;
  /** Ends at once: open connections are cut, delayed decisions and callbacks never happen. */
  close(): Promise<void>;
}

/**
 * Starts the Compliance API's documented behaviour on a port of this machine. Throws an InstructionError that names every problem with its
 * path when the options, the dialect or the scenario cannot be used.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { world, scenario, host, port } = createWorld(options);
  for (const sale of scenario.sales) issueElsewhere(world, sale);
  const controls = createControls(world);
  const server = fastify({
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    bodyLimit: 10 * 1024 * 1024,
    routerOptions: { maxParamLength: 1000 },
  });
  await server.register(
    async (scope) => {
      addControlRoutes(scope, controls);
    },
    { prefix: "/_simulator" },
  );
  await server.register(async (scope) => {
    addApiRoutes(scope, world);
  });
  const url = await server.listen({ host, port });
  return {
    ...controls,
    url,
    close: async () => {
      world.timers.close();
      world.callbacks.close();
      await server.close();
    },
  };
}
