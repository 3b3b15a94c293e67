import type { BusinessDocuments, Days } from "../../ledger/index.ts";

/** One JSON document, as `fiscalflow report --json` with its documents, one on each line. */
export async function* renderJson(period: Days, businesses: readonly BusinessDocuments[]): AsyncGenerator<string> {
  yield `{"period":${JSON.stringify(period)},"businesses":[`;
  for (const [index, { pages, ...figures }] of businesses.entries()) {
    yield `${index === 0 ? "" : ","}\n${JSON.stringify(figures).slice(0, -1)},"documents":[`;
    let between = "\n";
    for await (const page of pages()) {
      yield page
        .map((document) => {
          const line = `${between}${JSON.stringify(document)}`;
          between = ",\n";
          return line;
        })
        .join("");
    }
    yield "]}";
  }
  yield "]}\n";
}
