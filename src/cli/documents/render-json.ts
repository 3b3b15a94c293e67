import type { BusinessDocuments } from "../../ledger/index.ts";
import { amount } from "../report/money.ts";
import { countedAmounts } from "./counted.ts";
import type { ListHead } from "./list-head.ts";

/** One JSON document, as `fiscalflow report --json` with its documents, one on each line. */
export async function* renderJson(
  { days, sellerOf }: ListHead,
  businesses: readonly BusinessDocuments[],
): AsyncGenerator<string> {
  yield `{"period":${JSON.stringify(days)},"businesses":[`;
  for (const [index, { pages, ...figures }] of businesses.entries()) {
    const seller = sellerOf(figures);
    yield `${index === 0 ? "" : ","}\n${json({ ...figures, ...(seller && { seller }) }).slice(0, -1)},"documents":[`;
    let between = "\n";
    for await (const page of pages()) {
      yield page
        .map((document) => {
          const line = `${between}${json({ ...document, ...countedAmounts(document) })}`;
          between = ",\n";
          return line;
        })
        .join("");
    }
    yield "]}";
  }
  yield "]}\n";
}

const AMOUNTS: ReadonlySet<string> = new Set(["total", "taxableAmount", "taxAmount", "notSignedTotal", "givenUpTotal"]);

/** With two places in each amount, as the CSV has it. */
function json(data: object): string {
  return JSON.stringify(data, (key, value: unknown) =>
    AMOUNTS.has(key) && typeof value === "string" ? amount(value) : value,
  );
}
