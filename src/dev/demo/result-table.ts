import type { CallCounts } from "./count-calls.ts";
import { workflowLink } from "../../cli/temporal-ui.ts";
import type { DemoTemporal } from "./demo-temporal.ts";
import { type Cell, renderTable, widthOf } from "./render-table.ts";
import type { SaleProgress } from "./sale-progress.ts";
import type { Paint } from "./screens.ts";

interface Result {
  readonly sales: readonly SaleProgress[];
  readonly counts: CallCounts;
  readonly temporal: DemoTemporal;
  /** Of the screen; undefined: as wide as it takes. */
  readonly columns: number | undefined;
  readonly paint: Paint;
}

const HEAD = ["invoice", "what it shows", "stage", "receipt", "API calls", "seconds"];

/** What has become of each sale, with the link to its workflow: in the table where it fits, else below it. */
export function resultTable({ sales, counts, temporal, columns, paint }: Result): string {
  const place = ({ workflowId }: SaleProgress): string => workflowLink(temporal, workflowId) ?? workflowId;
  const rows = sales.map((sale) => rowOf(sale, counts, paint));
  const placeHead = temporal.uiUrl === undefined ? "workflow" : "in Temporal's UI";
  const wide = renderTable(
    [...HEAD, placeHead],
    sales.map((sale, index) => [...(rows[index] ?? []), place(sale)]),
  );
  const footnote = footnoteOf(counts);
  if (columns === undefined || widthOf(wide) <= columns) return `${wide}\n${footnote}`;
  const narrow = renderTable(HEAD, rows);
  const invoiceWidth = Math.max(...sales.map(({ example }) => example.invoice.length));
  const places = sales.map((sale) => `${sale.example.invoice.padEnd(invoiceWidth)}  ${place(sale)}`);
  return `${narrow}\n${footnote}\n\n${places.join("\n")}`;
}

function rowOf(sale: SaleProgress, { byInvoice }: CallCounts, paint: Paint): Cell[] {
  const { example, stage, state, startedAtMs, endedAtMs = startedAtMs, problem } = sale;
  const { expected } = example;
  const good = problem === undefined && stage === expected.stage;
  const stands = expected.attention === undefined || !good ? stage : `${stage}; needs an operator, as meant`;
  const receipts = [state?.document?.receipt, state?.creditNote?.receipt].flatMap((receipt) =>
    typeof receipt?.receiptNumber !== "number" ? [] : [`${receipt.receiptLabel ?? ""} ${receipt.receiptNumber}`.trim()],
  );
  return [
    example.invoice,
    example.title,
    { text: stands, paint: (text) => paint(text, good ? (stands === stage ? "green" : "yellow") : "red") },
    receipts.join(", ") || "-",
    String(byInvoice.get(example.invoice) ?? 0),
    ((endedAtMs - startedAtMs) / 1_000).toFixed(1),
  ];
}

function footnoteOf({ catalogueReads, byInvoice }: CallCounts): string {
  const own = [...byInvoice.values()].reduce((sum, count) => sum + count, 0);
  const reads = catalogueReads === 1 ? "1 reading" : `${catalogueReads} readings`;
  return `${own} API calls, and ${reads} of the catalogue for all of them.`;
}
