import type { BillPaymentsProgress } from "../../src/contract/index.ts";

export function describeProgress({
  kind,
  round,
  pages,
  rows,
  added,
  changed,
  leftOut,
}: BillPaymentsProgress): string[] {
  const again = round > 1 ? `, for the ${round}. time, since payments moved between pages while they were read` : "";
  return [
    kind === "full" ? `Reads every payment${again}` : "Reads what changed last, until known ground",
    `${pages} pages with ${rows} payments read; ${added} were new, ${changed} had changed`,
    ...(leftOut
      ? [
          `${leftOut} rows were left out because they do not have the documented form: \`fiscalflow doctor\` names the field`,
        ]
      : []),
  ];
}
