import fastify from "fastify";
import { addAccountingControlRoutes } from "./accounting/accounting-control-routes.ts";
import { type AccountingControls, createAccountingControls } from "./accounting/accounting-controls.ts";
import { addAccountingRoutes } from "./accounting/accounting-routes.ts";
import { createAccountingWorld } from "./accounting/accounting-world.ts";
import { addApiRoutes } from "./api-routes.ts";
import { addControlRoutes } from "./control-routes.ts";
import { createControls, type Controls } from "./controls.ts";
import { issueElsewhere } from "./issue-elsewhere.ts";
import type { SimulatorOptions } from "./options.ts";
import { addPageRoutes } from "./page/page-routes.ts";
import { createWorld } from "./world.ts";

/** Where the accounting service is mounted: its paths have no version prefix of their own. */
const accountingPrefix = "/accounting";

/** A running Compliance API with its own state, and beside it a running accounting service with its own. */
export interface Simulator extends Controls {
  /** Base address of the Compliance API, without a slash at its end. */
  readonly url: string;
  readonly accounting: AccountingControls & {
    /** Base address of the accounting service, without a slash at its end. */
    readonly url: string;
  };
  /** Ends at once: open connections are cut, delayed decisions and callbacks never happen. */
  close(): Promise<void>;
}

/**
 * Starts the documented behaviour of both services on a port of this machine. Throws an InstructionError that names
 * every problem with its path when the options, the dialect or the scenario cannot be used.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { world, scenario, host, port } = createWorld(options);
  for (const sale of scenario.sales) issueElsewhere(world, sale);
  const controls = createControls(world);
  const accounting = createAccountingWorld({
    scenario: scenario.accounting,
    dialect: options.accountingDialect,
    nowMs: world.nowMs,
    timers: world.timers,
    changes: world.changes,
    seed: options.seed ?? 1,
  });
  const accountingControls = createAccountingControls(accounting);
  const server = fastify({
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    bodyLimit: 10 * 1024 * 1024,
    routerOptions: { maxParamLength: 1000 },
  });
  await server.register(
    async (scope) => {
      addControlRoutes(scope, controls);
      await scope.register(
        async (inner) => {
          addAccountingControlRoutes(inner, accountingControls);
        },
        { prefix: accountingPrefix },
      );
    },
    { prefix: "/_simulator" },
  );
  await server.register(async (scope) => {
    addPageRoutes(scope, world, controls);
  });
  await server.register(
    async (scope) => {
      addAccountingRoutes(scope, accounting);
    },
    { prefix: accountingPrefix },
  );
  await server.register(async (scope) => {
    addApiRoutes(scope, world);
  });
  const url = await server.listen({ host, port });
  return {
    ...controls,
    url,
    accounting: { ...accountingControls, url: `${url}${accountingPrefix}` },
    close: async () => {
      world.timers.close();
      world.callbacks.close();
      accounting.webhooks.close();
      await server.close();
    },
  };
}
