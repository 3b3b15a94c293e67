import type { Client } from "@temporalio/client";

import type { Config } from "../../config/index.ts";
import { documentWorthOf, nairobiInstant, nairobiTime, type Stage, waitsForOperator } from "../../contract/index.ts";
import type { Ledger, SaleRow } from "../../ledger/index.ts";
import { keepUnseenClosedRuns } from "../../worker/each-minute.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { type Column, printList } from "../tables.ts";
import { age } from "../output.ts";
import { refuseUnknown } from "../report/asked.ts";
import { withLedger } from "../with-ledger.ts";
import { scopeFlags } from "./lines.ts";
import type { SaleListFlags } from "./register-sale.ts";
import type { Scope } from "../options.ts";
import { serviceTroubles, troubleLine } from "./service-troubles.ts";

/** What a row does not know yet, Temporal is asked first: which of the runs have ended. */
export async function listSales(context: CliContext, flags: SaleListFlags): Promise<void> {
  const { business: businessId, limit, json } = flags;
  const work = async (client: Client, ledger: Ledger, config: Config): Promise<void> => {
    await refuseUnknown(ledger, config, flags);
    await keepUnseenClosedRuns(client, ledger);
    const [found, troubles, toRestart] = await Promise.all([
      ledger.documents.listSales({ ...flags, businessId, limit: limit + 1 }),
      serviceTroubles(client, flags),
      flags.attention ? endedLine(ledger, flags) : undefined,
    ]);
    const remarks = [...troubles.map(troubleLine), ...(toRestart === undefined ? [] : [toRestart])];
    const more =
      found.length > limit
        ? "There are more than these, open ones first, then the latest of the others: --limit shows more."
        : undefined;
    const rows = found.slice(0, limit).map(saleRow);
    printList(context, json, { rows, columns: COLUMNS, remarks, more });
  };
  await withTemporal(context, ({ client }) =>
    withLedger(context, (ledger, config) => work(client, ledger, config), { quiet: true, mayBeEmpty: true }),
  );
}

/**
 * How many sales ended without an outcome and are to be restarted; undefined where none is. They need somebody, and no
 * attention says so.
 */
export async function endedLine({ documents }: Pick<Ledger, "documents">, scope: Scope): Promise<string | undefined> {
  const { connection, business: businessId } = scope;
  const count = await documents.countEnded({ connection, businessId });
  if (count === 0) return undefined;
  const who =
    count === 1
      ? "1 workflow ended without an outcome, and nothing carries it on until it is restarted"
      : `${count} workflows ended without an outcome, and nothing carries them on until they are restarted`;
  return `${who}: ${["fiscalflow sale list --ended", ...scopeFlags(scope)].join(" ")}`;
}

/** Beside the contract's words: `completed` of a status means that nothing is left to be done. */
function saleRow(row: SaleRow) {
  const { number: invoice, businessId: business, workflowId, stage, creditNote, documentId, asked, total } = row;
  const { closed, failed, attentions, isOpen, isMoving } = row;
  const lines = asked?.lines ?? [];
  return {
    invoice,
    business,
    stage,
    status: closed ?? (failed ? "failed" : isOpen || isMoving ? "running" : "completed"),
    /** What an operator is needed for; null where nobody is, and where no operator's update arrives any more. */
    attention: closed === null ? (attentions[0]?.code ?? null) : null,
    waitsFor: waitsFor(row),
    /** The number of the credit note that reverses it, or is about to. */
    creditNote,
    /** Name or PIN; null where none was given. */
    buyer: asked?.customer?.name ?? asked?.customer?.pin ?? row.customer,
    /**
     * Σ(quantity × unit price) as the sale was started with, each line rounded to cents as its document states it, a
     * decimal text. Of one that was started without lines the total of its document, null until that is known.
     */
    amount: lines.length > 0 ? documentWorthOf(lines) : total,
    saleId: documentId,
    startedAt: nairobiInstant(row.startedAtMs),
    workflowId,
  };
}

/** Undefined: its document waits for nothing. */
const WAITS_FOR: Readonly<Record<Stage, string | undefined>> = {
  "resolving-items": "its items",
  registering: "the registration of its items",
  submitting: "the API",
  "adjusting-stock": "its stock movements",
  "awaiting-authority": "the tax authority",
  rejected: "its resubmission",
  completed: undefined,
  crediting: "its credit note",
  credited: undefined,
  cancelled: undefined,
};

function waitsFor({ closed, failed, stage, attentions: [attention], isMoving }: SaleRow): string {
  if (closed === null && attention) return waitsForOperator(attention.code);
  if (failed) return "nothing: it was refused, and its caller told why";
  if (closed !== null) return "a restart";
  return WAITS_FOR[stage] ?? (isMoving ? "its stock movements" : "nothing");
}

type ListedSale = ReturnType<typeof saleRow>;

const COLUMNS: readonly Column<ListedSale>[] = [
  { head: "NUMBER", of: "invoice" },
  { head: "BUSINESS", of: "business" },
  { head: "STAGE", of: stageText },
  { head: "WAITS FOR", of: "waitsFor" },
  { head: "BUYER", of: "buyer" },
  { head: "AMOUNT", of: "amount", isAmount: true },
  { head: "DOCUMENT", of: "saleId" },
  { head: "STARTED", of: ({ startedAt }) => nairobiTime(Date.parse(startedAt)) },
  { head: "AGE", of: ({ startedAt }) => age(Date.parse(startedAt), Date.now()) },
];

/** Of a completed run the stage says all: while its refund window is open, its workflow goes on. */
function stageText({ stage, status, creditNote }: ListedSale): string {
  const by = creditNote === null ? "" : ` by ${creditNote}`;
  const how = status === "running" || status === "completed" ? "" : ` (${status})`;
  return `${stage}${by}${how}`;
}
