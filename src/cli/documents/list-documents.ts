import type { BusinessDocuments, ListedDocument } from "../../ledger/index.ts";
import type { PeriodList } from "../lists/list.ts";
import { configuredNote, nameOf } from "../report/configured-note.ts";
import { refuseUnknown } from "../report/refuse-unknown.ts";
import { withSeller } from "../report/seller-of.ts";
import { codesOf } from "./codes.ts";
import { countedAmounts } from "./counted.ts";
import { csvColumns } from "./csv-columns.ts";
import { notesOf } from "./notes.ts";
import { documentsTable } from "./table.ts";

export const listOfDocuments: PeriodList<BusinessDocuments, ListedDocument> = {
  read: (ledger, request, write) => ledger.reports.documents(request, write),
  refuseUnknown,
  absentNote: configuredNote,
  notesOf,
  nameOf,
  csv: csvColumns,
  json: {
    owners: "businesses",
    rows: "documents",
    // As `fiscalflow report --json`.
    figuresOf: ({ pages: _pages, ...figures }, { sellerOf }) => withSeller(figures, sellerOf),
    rowOf: (document) => ({ ...document, ...codesOf(document), ...countedAmounts(document) }),
    amounts: new Set(["total", "taxableAmount", "taxAmount", "notSignedTotal", "givenUpTotal"]),
  },
  table: documentsTable,
};
