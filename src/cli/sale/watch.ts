import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";

import { areSettled, isCorrectionLeft, SETTLED_STAGES } from "../../contract/index.ts";
import type { SaleState } from "../../starter/index.ts";
import type { CliContext } from "../context.ts";
import { jsonText, nairobiClock, printNote, printResult } from "../output.ts";
import { showCommand } from "./command-lines.ts";
import { parseInvoice, type ResultFlags, type Scope, withScope } from "./scope.ts";

const LOOK_EVERY_MS = 500;

export function registerWatch(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("watch")
      .description("Follow a sale until it is settled: a line for each change. Ctrl-C ends it; the sale goes on.")
      .argument("<invoice>", "the sale's number", parseInvoice),
  )
    .addHelpText(
      "after",
      `
A sale is settled once it is completed, credited or cancelled, its stock movements are answered, and nobody is needed. One whose
workflow was terminated, failed or timed out ends it too: nothing carries it on.
With --json each line is a JSON object. What is wrong with the API meanwhile, standard error says.

Example:
  fiscalflow sale watch INV-1001`,
    )
    .action((invoice: string, flags: Scope & ResultFlags) => watchSale(context, invoice, flags));
}

async function watchSale(context: CliContext, invoice: string, flags: Scope & ResultFlags): Promise<void> {
  const { withSales } = await import("./with-sales.ts");
  const { NoAnswerError } = await import("../../starter/index.ts");
  const { troubleNotes } = await import("./trouble-notes.ts");
  await withSales(context, async (sales) => {
    const { starter } = sales;
    const key = sales.keyOf(invoice, flags);
    const notes = troubleNotes(context, sales);
    let shownLine = "";
    let isOperatorTold = false;
    let silent = false;
    let callbacks = 0;
    for (;;) {
      let state: SaleState | undefined;
      try {
        state = await starter.getSale(key);
        silent = false;
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error;
        if (!silent) printNote(context, `${error.message} Still asking.`);
        silent = true;
      }
      if (state) {
        // Only an open workflow counts them.
        callbacks = Math.max(callbacks, state.callbacksReceived);
        const seen = seenIn(state, callbacks);
        const now = JSON.stringify(seen);
        if (now !== shownLine) tell(context, seen, state, flags.json);
        shownLine = now;
        if (seen.needs.length > 0 && !isOperatorTold) {
          const show = showCommand(invoice, flags);
          printNote(context, `How to resolve it: ${show}. This command goes on watching.`);
          isOperatorTold = true;
        }
        if (isSettled(state)) return;
        await notes.tell(key, state);
      }
      await delay(LOOK_EVERY_MS, undefined, { signal: context.signal });
    }
  });
}

type Seen = ReturnType<typeof seenIn>;

/** What a line is written for. What it waits for changes more often than anybody wants to read. */
function seenIn(state: SaleState, callbacksReceived: number) {
  const { stage, attentions, document, stockMovements, closed } = state;
  const counts = new Map<string, number>();
  for (const { state: one } of stockMovements) counts.set(one, (counts.get(one) ?? 0) + 1);
  return {
    stage,
    closed: closed?.status ?? null,
    needs: closed ? [] : attentions.map(({ code }) => code),
    document: document?.status ?? null,
    receipt: document?.receipt?.cuInvoiceNo ?? null,
    stockMovements: Object.fromEntries(counts),
    callbacksReceived,
  };
}

function tell(context: CliContext, seen: Seen, { waitingFor }: SaleState, json: boolean | undefined): void {
  const atMs = Date.now();
  if (json === true) {
    context.stdout.write(`${jsonText({ atMs, ...seen, waitingFor })}\n`);
    return;
  }
  const { stage, needs, document, receipt, stockMovements, callbacksReceived } = seen;
  const movements = Object.entries(stockMovements).map(([state, count]) => `${count} ${state}`);
  const parts = [
    stage,
    document === null || document === stage ? undefined : `document ${document}`,
    receipt === null ? undefined : `receipt ${receipt}`,
    movements.length === 0 ? undefined : `stock movements: ${movements.join(", ")}`,
    callbacksReceived === 0 ? undefined : `${callbacksReceived} callback${callbacksReceived === 1 ? "" : "s"}`,
    needs.length === 0 ? undefined : `needs an operator: ${needs.join(", ")}`,
    waitingFor === "nothing" ? undefined : `waits for ${waitingFor}`,
  ];
  const line = parts.filter((part) => part !== undefined).join("; ");
  printResult(context, false, undefined, `${nairobiClock(atMs)}  ${line}`);
}

function isSettled({ source, stage, attentions, stockMovements, correction, closed }: SaleState): boolean {
  // Nothing carries on what the ledger alone knows, or what ended without an outcome.
  if (source === "ledger" || closed) return true;
  const isDone = SETTLED_STAGES.includes(stage) && areSettled(stockMovements) && !isCorrectionLeft(correction);
  return isDone && attentions.length === 0;
}
