import { z } from "zod";
import type { Changes } from "./changes.ts";
import { parseInstruction } from "./problems.ts";
import { defaultCallbackRetryDelaysMs } from "./undocumented.ts";

export interface SimulatorOptions {
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
  /** Requests per window and application; default 120. */
  limitPerWindow?: number;
  /** Length of a window, aligned to `floor(now / windowMs)`; default 60 000. */
  windowMs?: number;
  /** POST of a sale files a new document each time, whatever its Idempotency-Key. */
  ignoreIdempotencyKeyOnSales?: boolean;
  /** Delay before each further callback attempt; then the callback is `failed`. Default 1 s, 5 s, 30 s. */
  callbackRetryDelaysMs?: readonly number[];
  /** Also accept http and loopback in a callbackUrl; default true, since tests listen there. */
  allowLoopbackCallbacks?: boolean;
  /** Refuse fields that the dialect does not name with 400; default true. */
  refuseUnknownFields?: boolean;
  /** How long each call takes before it is looked at; default 0. */
  latencyMs?: number;
  /** Of the faults with a probability; default 1. */
  seed?: number;
  /** The clock of windows, receipts and books; default Date.now. Delays always pass in real time. */
  nowMs?: () => number;
}

/** What may change while the simulator runs. */
export interface Settings {
  limitPerWindow: number;
  windowMs: number;
  latencyMs: number;
  ignoreIdempotencyKeyOnSales: boolean;
  allowLoopbackCallbacks: boolean;
  refuseUnknownFields: boolean;
}

export const settingsPatchSchema = z.strictObject({
  limitPerWindow: z.number().int().positive().optional(),
  windowMs: z.number().int().positive().optional(),
  latencyMs: z.number().min(0).optional(),
  ignoreIdempotencyKeyOnSales: z.boolean().optional(),
  allowLoopbackCallbacks: z.boolean().optional(),
  refuseUnknownFields: z.boolean().optional(),
});
export type SettingsPatch = z.input<typeof settingsPatchSchema>;

const numbersSchema = z.object({
  port: z.number().int().min(0).max(65_535),
  seed: z.number().int(),
  callbackRetryDelaysMs: z.array(z.number().int().min(0)),
});

/** The options with their defaults, or an InstructionError that names the wrong ones. */
export function completeOptions(options: SimulatorOptions): {
  host: string;
  port: number;
  seed: number;
  callbackRetryDelaysMs: readonly number[];
  nowMs: () => number;
  settings: Settings;
} {
  const {
    host = "127.0.0.1",
    port = 0,
    seed = 1,
    callbackRetryDelaysMs = defaultCallbackRetryDelaysMs,
    nowMs = Date.now,
    limitPerWindow = 120,
    windowMs = 60_000,
    latencyMs = 0,
    ignoreIdempotencyKeyOnSales = false,
    allowLoopbackCallbacks = true,
    refuseUnknownFields = true,
  } = options;
  const settings: Settings = {
    limitPerWindow,
    windowMs,
    latencyMs,
    ignoreIdempotencyKeyOnSales,
    allowLoopbackCallbacks,
    refuseUnknownFields,
  };
  parseInstruction("options", settingsPatchSchema, settings);
  const numbers = parseInstruction("options", numbersSchema, { port, seed, callbackRetryDelaysMs });
  return { host, nowMs, settings, ...numbers };
}

/** Changes what the patch names, at once. */
export function changeSettings(settings: Settings, patch: unknown, changes: Changes): void {
  const parsed = parseInstruction("settings", settingsPatchSchema, patch);
  const named = Object.entries(parsed).filter(([, value]) => value !== undefined);
  Object.assign(settings, Object.fromEntries(named));
  changes.announce();
}
