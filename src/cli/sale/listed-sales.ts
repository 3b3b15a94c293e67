import {
  type ClosedStatus,
  documentWorthOf,
  nairobiInstant,
  nairobiTime,
  type Stage,
  waitsForOperator,
} from "../../contract/index.ts";
import type { SaleRow } from "../../ledger/index.ts";
import { keepUnseenClosedRuns } from "../../worker/each-minute.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { type Column, printList } from "../lists/columns.ts";
import { age } from "../report/money.ts";
import { refuseUnknown } from "../report/asked.ts";
import { withLedger } from "../with-ledger.ts";
import { endedLine } from "./ended-line.ts";
import type { ResultFlags, Scope } from "./scope.ts";
import { serviceTroubles, troubleLine } from "./service-troubles.ts";

export interface SaleListFlags extends Scope, ResultFlags {
  attention?: boolean;
  ended?: boolean;
  stage?: Stage;
  number?: string;
  from?: string;
  to?: string;
  limit: number;
}

interface ListedSale {
  invoice: string;
  business: string;
  stage: Stage;
  /** `completed`: nothing is left to be done. */
  status: "running" | "completed" | ClosedStatus;
  /** What an operator is needed for; null where nobody is, and where no operator's update arrives any more. */
  attention: string | null;
  /** In words. */
  waitsFor: string;
  /** The number of the credit note that reverses it, or is about to. */
  creditNote: string | null;
  /** Name or PIN; null where none was given. */
  buyer: string | null;
  /**
   * Σ(quantity × unit price) as the sale was started with, each line rounded to cents as its document states it, a
   * decimal text. Of one that was started without lines the total of its document, null until that is known.
   */
  amount: string | null;
  saleId: string | null;
  startedAt: string;
  workflowId: string;
}

const COLUMNS: readonly Column<ListedSale>[] = [
  { head: "NUMBER", of: "invoice" },
  { head: "BUSINESS", of: "business" },
  { head: "STAGE", of: stageText },
  { head: "WAITS FOR", of: "waitsFor" },
  { head: "BUYER", of: "buyer" },
  { head: "AMOUNT", of: "amount" },
  { head: "DOCUMENT", of: "saleId" },
  { head: "STARTED", of: ({ startedAt }) => nairobiTime(Date.parse(startedAt)) },
  { head: "AGE", of: ({ startedAt }) => age(Date.parse(startedAt), Date.now()) },
];
const AMOUNTS: ReadonlySet<string> = new Set(["amount"]);

/** What a row does not know yet, Temporal is asked first: which of the runs have ended. */
export async function printSales(context: CliContext, flags: SaleListFlags): Promise<void> {
  const { business: businessId, limit, json, ...asked } = flags;
  await withTemporal(context, async ({ client }) =>
    withLedger(
      context,
      async (ledger, config) => {
        await refuseUnknown(ledger, config, flags);
        await keepUnseenClosedRuns(client, ledger);
        const [found, troubles, toRestart] = await Promise.all([
          ledger.documents.listSales({ ...asked, businessId, limit: limit + 1 }),
          serviceTroubles(client, flags),
          flags.attention === true ? endedLine(ledger, flags) : undefined,
        ]);
        const remarks = [...troubles.map(troubleLine), ...(toRestart === undefined ? [] : [toRestart])];
        const more =
          found.length > limit
            ? "There are more than these, open ones first, then the latest of the others: --limit shows more."
            : undefined;
        const rows = found.slice(0, limit).map(listed);
        printList(context, json, { rows, columns: COLUMNS, amounts: AMOUNTS, remarks, more });
      },
      { forMachines: true, mayBeEmpty: true },
    ),
  );
}

function listed(row: SaleRow): ListedSale {
  const { number: invoice, businessId: business, workflowId, stage, creditNote, documentId, asked, total } = row;
  const lines = asked?.lines ?? [];
  return {
    invoice,
    business,
    stage,
    status: statusOf(row),
    attention: attentionOf(row),
    waitsFor: waitsFor(row),
    creditNote,
    buyer: asked?.customer?.name ?? asked?.customer?.pin ?? row.customer,
    amount: lines.length > 0 ? documentWorthOf(lines) : total,
    saleId: documentId,
    startedAt: nairobiInstant(row.startedAtMs),
    workflowId,
  };
}

function statusOf({ closed, failed, isOpen, isMoving }: SaleRow): ListedSale["status"] {
  if (closed !== null) return closed as ClosedStatus;
  if (failed) return "failed";
  return isOpen || isMoving ? "running" : "completed";
}

function attentionOf({ closed, attentions }: SaleRow): string | null {
  return closed === null ? (attentions[0]?.code ?? null) : null;
}

const WAITS_FOR: Readonly<Partial<Record<Stage, string>>> = {
  "resolving-items": "its items",
  submitting: "the API",
  "awaiting-authority": "the tax authority",
  rejected: "its resubmission",
  crediting: "its credit note",
};

function waitsFor(row: SaleRow): string {
  const { closed, failed, stage, isMoving } = row;
  const attention = attentionOf(row);
  if (attention !== null) return waitsForOperator(attention);
  if (failed) return "nothing: it was refused, and its caller told why";
  if (closed !== null) return "a restart";
  return WAITS_FOR[stage] ?? (isMoving ? "its stock movements" : "nothing");
}

function stageText({ stage, status, creditNote }: ListedSale): string {
  const by = creditNote === null ? "" : ` by ${creditNote}`;
  const how = status === "running" ? "" : ` (${status === "completed" ? "finished" : status})`;
  return `${stage}${by}${how}`;
}
