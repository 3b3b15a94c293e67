import { readdir, readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import type { SaleInput } from "../../contract/index.ts";
import { InvalidInputError, parseInput, saleInputSchema } from "../../contract/schema/index.ts";
import type { DemoPlan, Example } from "./demo-plan.ts";
import { type ScenarioFile, scenarioFileSchema } from "./scenario-file.ts";

const SCENARIO_FILE = "scenario.json";

/**
 * Reads `examples/*.json`, in the order of their names, and what `scenario.json` says about them.
 * @throws InvalidInputError that names the file and every field that is wrong
 */
export async function readDemoPlan(folder: string, workingDirectory: string): Promise<DemoPlan> {
  const shown = (name: string): string => relative(workingDirectory, join(folder, name)) || name;
  const names = (await namesIn(folder)).filter((name) => name.endsWith(".json")).toSorted();
  const scenarioPath = shown(SCENARIO_FILE);
  const file = await readJson(folder, SCENARIO_FILE, scenarioPath);
  const scenario = parseInput<ScenarioFile>(scenarioFileSchema, file, scenarioPath);
  const examples: Example[] = [];
  for (const name of names.filter((candidate) => candidate !== SCENARIO_FILE)) {
    const path = shown(name);
    const input = parseInput(saleInputSchema, await readJson(folder, name, path), path);
    examples.push(exampleOf(path, input, scenario));
  }
  const problems = [...unknownInvoices(examples, scenario), ...repeatedInvoices(examples)];
  const [business] = scenario.simulator.businesses;
  const [key] = scenario.simulator.applications.flatMap((application) => application.keys);
  if (key === undefined) problems.push("simulator.applications: expected a key, which the worker can use");
  const [accounting] = scenario.simulator.accounting.applications;
  const [accountingKey] = accounting?.keys ?? [];
  if (accountingKey === undefined)
    problems.push("simulator.accounting.applications[0].keys: expected a key, which the worker can use");
  if (examples.length === 0) problems.push(`${folder}: expected sales besides ${SCENARIO_FILE}, found none`);
  if (problems.length > 0 || business === undefined || key === undefined || accountingKey === undefined)
    throw new InvalidInputError(scenarioPath, problems);
  const clientSecret = accounting?.clientSecret ?? undefined;
  return {
    examples,
    scenario: scenario.simulator,
    faults: scenario.faults,
    businessId: business.id,
    apiKey: key.key,
    accounting: { apiKey: accountingKey, clientSecret },
  };
}

function exampleOf(path: string, input: SaleInput, scenario: ScenarioFile): Example {
  const invoice = input.traderInvoiceNumber;
  const refund = scenario.refunds.find((candidate) => candidate.invoice === invoice)?.request;
  const expected = scenario.expected[invoice] ?? { stage: refund === undefined ? "completed" : "credited" };
  const title = basename(path, ".json").replace(/^\d+-/, "").replaceAll("-", " ");
  return { path, title, invoice, input, refund, expected };
}

function unknownInvoices(examples: readonly Example[], { refunds, expected }: ScenarioFile): string[] {
  const known = new Set(examples.map(({ invoice }) => invoice));
  const named = [
    ...refunds.map(({ invoice }, index) => ({ invoice, path: `refunds[${index}].invoice` })),
    ...Object.keys(expected).map((invoice) => ({ invoice, path: `expected.${invoice}` })),
  ];
  return named
    .filter(({ invoice }) => !known.has(invoice))
    .map(({ invoice, path }) => `${path}: expected the number of one of the examples, found "${invoice}"`);
}

function repeatedInvoices(examples: readonly Example[]): string[] {
  return examples
    .filter(({ invoice }, index) => examples.findIndex((other) => other.invoice === invoice) < index)
    .map(({ path, invoice }) => `${path}: expected a number of its own, found ${invoice} for the second time`);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    throw new InvalidInputError("examples", [`${folder}: expected a folder that can be read`, reasonOf(cause)]);
  }
}

async function readJson(folder: string, name: string, shown: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(folder, name), "utf8"));
  } catch (cause) {
    throw new InvalidInputError(shown, [`expected a file with JSON: ${reasonOf(cause)}`]);
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
