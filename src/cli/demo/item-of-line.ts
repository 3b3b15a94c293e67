import type { SaleLineInput } from "../../contract/index.ts";
import type { DemoPlan } from "./demo-plan.ts";

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
