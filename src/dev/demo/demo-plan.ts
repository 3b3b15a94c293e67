import type { SaleInput, SaleLineInput } from "../../contract/index.ts";
import type { Expected, Refund, ScenarioFile } from "./scenario-file.ts";

/** One of the demo's sales. */
export interface Example {
  /** Path of its file, as it can be given to `sale start`. */
  readonly path: string;
  /** What it shows, from the file's name: "accepted at once". */
  readonly title: string;
  readonly invoice: string;
  readonly input: SaleInput;
  readonly refund: Refund["request"] | undefined;
  readonly expected: Expected;
}

/** Everything that a run of the demo needs to know. */
export interface DemoPlan {
  readonly examples: readonly Example[];
  /** The state in which the simulator starts. */
  readonly scenario: ScenarioFile["simulator"];
  /** What goes wrong there. */
  readonly faults: ScenarioFile["faults"];
  /** The business whose sales they are. */
  readonly businessId: string;
  readonly apiKey: string;
  /** Of the accounting service; requests are signed where there is a client secret. */
  readonly accounting: { readonly apiKey: string; readonly clientSecret: string | undefined };
}

type DemoItem = DemoPlan["scenario"]["items"][number];

/** The item of the demo's catalogue that a line names. */
export function itemOfLine({ scenario }: DemoPlan, line: SaleLineInput): DemoItem | undefined {
  return scenario.items.find(
    ({ id, sku, externalId }) =>
      id === line.itemId ||
      (sku !== undefined && sku === line.sku) ||
      (externalId !== undefined && externalId === line.externalId),
  );
}
