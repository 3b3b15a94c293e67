import type { PurchasesProgress } from "../../src/contract/index.ts";

const KINDS = {
  recent: "the latest, until known ground, and what may still change",
  full: "the whole list",
  window: "all from a day on",
} as const;

export function describeProgress({ kind, pages, rows, added, changed, leftOut }: PurchasesProgress): string[] {
  return [
    `Reads ${KINDS[kind]}`,
    `${pages} pages with ${rows} purchases read; ${added} were new, ${changed} had changed`,
    ...(leftOut
      ? [
          `${leftOut} rows were left out because they do not have the documented form: \`fiscalflow doctor\` names the field`,
        ]
      : []),
    "Purchases are confirmed and rejected in the service's dashboard, not here",
  ];
}
