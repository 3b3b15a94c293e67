import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { z } from "zod";

import { ATTENTION_CODES, type SaleInput } from "../../contract/index.ts";
import { InvalidInputError, parseInput } from "../../contract/schema/parse-input.ts";
import { refundRequestSchema, saleInputSchema } from "../../contract/schema/sale.ts";
import { faultSchema, scenarioSchema } from "../simulator/index.ts";

const SCENARIO_FILE = "scenario.json";

/** What a sale must have come to at the end. */
const expectedSchema = z.strictObject({
  stage: z.enum(["completed", "credited"]),
  // What it then needs an operator for, because the example is there to show it.
  attention: z.enum(ATTENTION_CODES).optional(),
});

/** `examples/scenario.json`: what the examples meet, and what must have become of them. */
const scenarioFileSchema = z.strictObject({
  simulator: scenarioSchema,
  /** What goes wrong at the simulator, from the start. */
  faults: z.array(faultSchema).default([]),
  refunds: z.array(z.strictObject({ invoice: z.string().min(1), request: refundRequestSchema })).default([]),
  expected: z.record(z.string(), expectedSchema).default({}),
});

type ScenarioFile = z.infer<typeof scenarioFileSchema>;

/** One of the demo's sales. */
export interface Example {
  /** What it shows, from the file's name: "accepted at once". */
  readonly title: string;
  readonly invoice: string;
  readonly input: SaleInput;
  readonly refund: ScenarioFile["refunds"][number]["request"] | undefined;
  readonly expected: z.infer<typeof expectedSchema>;
}

/** Everything that a run of the demo needs to know. */
export interface DemoPlan {
  readonly examples: readonly Example[];
  /** The state in which the simulator starts. */
  readonly scenario: ScenarioFile["simulator"];
  /** What goes wrong there. */
  readonly faults: ScenarioFile["faults"];
  readonly business: { readonly id: string; readonly name: string };
  readonly apiKey: string;
  /** Of the accounting service; requests are signed where there is a client secret. */
  readonly accounting: { readonly apiKey: string; readonly clientSecret: string | undefined };
}

/** The package's `examples`: this file runs as it is, or compiled in `dist`. */
export function examplesFolder(): string {
  const root = join(import.meta.dirname, "../../..");
  return [join(root, "examples"), join(root, "../examples")].find(existsSync) ?? "examples";
}

/**
 * Reads the sales of the folder, in the order of their names, and what `scenario.json` says about them.
 * @param run makes the business another one: a Temporal server that outlives the demo remembers its sales for ever
 * @throws InvalidInputError that names the file and every field that is wrong
 */
export async function readDemoPlan(folder: string, run?: string): Promise<DemoPlan> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new InvalidInputError("examples", [`${folder}: expected a folder that can be read: ${reasonOf(error)}`]);
  });
  const shown = (name: string): string => relative(process.cwd(), join(folder, name)) || name;
  const file = shown(SCENARIO_FILE);
  const scenario = parseInput<ScenarioFile>(scenarioFileSchema, await readJson(folder, SCENARIO_FILE, file), file);
  const examples: Example[] = [];
  for (const name of names.filter((name) => name.endsWith(".json") && name !== SCENARIO_FILE).toSorted()) {
    const input = parseInput(saleInputSchema, await readJson(folder, name, shown(name)), shown(name));
    const invoice = input.traderInvoiceNumber;
    const refund = scenario.refunds.find((candidate) => candidate.invoice === invoice)?.request;
    const expected = scenario.expected[invoice] ?? { stage: refund === undefined ? "completed" : "credited" };
    const title = basename(name, ".json").replace(/^\d+-/, "").replaceAll("-", " ");
    examples.push({ title, invoice, input, refund, expected });
  }
  const { simulator, faults } = scenario;
  const [business] = simulator.businesses;
  const [key] = simulator.applications.flatMap(({ keys }) => keys);
  const [accounting] = simulator.accounting.applications;
  const [accountingKey] = accounting?.keys ?? [];
  if (examples.length === 0 || !business || !key || !accountingKey)
    throw new InvalidInputError(file, ["expected a business, a key of each service, and sales in files beside it"]);
  const { clientSecret } = { ...accounting };
  const keys = { apiKey: key.key, accounting: { apiKey: accountingKey, clientSecret: clientSecret ?? undefined } };
  const plan: DemoPlan = { examples, scenario: simulator, faults, business, ...keys };
  if (run === undefined) return plan;
  const text = JSON.stringify(plan).replaceAll(JSON.stringify(business.id), JSON.stringify(`${business.id}_${run}`));
  return JSON.parse(text) as DemoPlan;
}

async function readJson(folder: string, name: string, shown: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(folder, name), "utf8"));
  } catch (error) {
    throw new InvalidInputError(shown, [`expected a file with JSON: ${reasonOf(error)}`]);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
