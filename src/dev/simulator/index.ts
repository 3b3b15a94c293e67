/**
 * The simulator of both services, over HTTP, written from their documents. It shares no code with the clients, so that
 * one wrong reading cannot agree with itself.
 *
 * Stands on: nothing of ours.
 */
import fastify from "fastify";
import type { z } from "zod";

import { type AccountingControls, createAccounting } from "./accounting/accounting.ts";
import { complianceService, createWorld } from "./compliance.ts";
import { addControlRoutes, type Controls, createControls } from "./controls.ts";
import { parseDialect } from "./dialect.ts";
import { Faults } from "./faults.ts";
import { Changes, Timers } from "./later.ts";
import { InstructionError, parseInstruction, parseScenario } from "./scenario.ts";
import { addService } from "./service.ts";
import { settingsSchema } from "./world.ts";

export type { CallEntry } from "./call-log.ts";
export { type Fault, faultSchema } from "./faults.ts";
export { InstructionError } from "./scenario.ts";
export { parseScenario, scenarioSchema } from "./scenario.ts";
export type { AuthorityStep, NewItem, NewPurchase, ScenarioInput } from "./scenario.ts";
export type { Books, DocumentBooks, Movement } from "./world.ts";

/** Besides the settings, each of which has a default. */
export interface SimulatorOptions extends z.input<typeof settingsSchema> {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Part of a compliance dialect, over the defaults. */
  dialect?: unknown;
  /** Part of an accounting dialect, over the defaults. */
  accountingDialect?: unknown;
  /** See the scenario schema; a section that is left out is the built-in one. */
  scenario?: unknown;
  /** Of the faults with a probability; default 1. */
  seed?: number;
  /** The clock of windows, receipts and books; default Date.now. Delays always pass in real time. */
  nowMs?: () => number;
}

/** A running Compliance API with its own state, and beside it a running accounting service with its own. */
export interface Simulator extends Controls {
  /** Base address of the Compliance API, without a slash at its end. */
  readonly url: string;
  readonly accounting: AccountingControls & {
    /** Base address of the accounting service, without a slash at its end. */
    readonly url: string;
  };
  /** Resolves once `check` is true; it is asked after each change of the simulator's state. */
  until(check: () => boolean): Promise<void>;
  /** Ends at once: open connections are cut, delayed decisions and callbacks never happen. */
  close(): Promise<void>;
}

/** Where the accounting service is mounted: its paths have no version prefix of their own. */
const accountingPrefix = "/accounting";

/**
 * Starts the documented behaviour of both services on a port of this machine.
 * @throws InstructionError that names the problems with their paths when the options, a dialect or the scenario cannot
 *   be used
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const {
    host = "127.0.0.1",
    port = 0,
    dialect,
    accountingDialect,
    scenario,
    seed = 1,
    nowMs = Date.now,
    ...given
  } = options;
  const settings = parseInstruction("options", settingsSchema, given);
  const around = { nowMs, timers: new Timers(), changes: new Changes(), faults: new Faults(seed) };
  const parsed = parseScenario(scenario);
  const world = createWorld(parsed, settings, parseDialect(dialect), around);
  const compliance = complianceService(world);
  const accounting = createAccounting(parsed.accounting, accountingDialect, around);
  const operations = [...compliance.operations, ...accounting.service.operations].map(({ name }) => name);
  const controls = createControls(world, operations);
  const server = fastify({
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    bodyLimit: 10 * 1024 * 1024,
    routerOptions: { maxParamLength: 1000 },
  });
  server.setErrorHandler(async (error, _request, reply) => {
    const message = error instanceof Error ? error.message : String(error);
    await reply.code(error instanceof InstructionError ? 400 : 500).send({ error: { message } });
  });
  const controlRoutes = { prefix: "/_simulator" };
  await server.register(async (scope) => addControlRoutes(scope, controls, accounting.controls), controlRoutes);
  const accountingRoutes = { prefix: accountingPrefix };
  await server.register(async (scope) => addService(scope, accounting.service, around), accountingRoutes);
  await server.register(async (scope) => addService(scope, compliance, around));
  const url = await server.listen({ host, port });
  return {
    ...controls,
    url,
    accounting: { ...accounting.controls, url: `${url}${accountingPrefix}` },
    until: async (check) => around.changes.until(check),
    close: async () => {
      around.timers.close();
      world.callbacks.close();
      accounting.close();
      await server.close();
    },
  };
}
