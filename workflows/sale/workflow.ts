/**
 * The sale with its credit notes: its flow, its state, its messages, what others see of it, and its `steps/`. How a
 * document comes about is in `workflows/document/`, how goods move in `workflows/stock/`.
 *
 * What must not happen twice is claimed in the ledger before it is sent, under a key that every run of the sale makes
 * alike: the document under its number (`src/ledger/documents/take.ts`), a movement under its reference
 * (`src/ledger/claims/at-most-once.ts`). So:
 *
 * - A worker dies with a movement out. Its activity has one attempt, and the workflow asks the claim what became of it:
 *   applied; not applied, or never sent, so that it is sent under the next generation; still under way, so that it asks
 *   again; or unknown, which an operator decides (`resolveStock`), unless the outcome is written down after all.
 * - The database is away. Nothing leaves without a claim: the run waits, says so, and goes on by itself. An answer that
 *   cannot be written down counts for the run, which writes it before it ends.
 * - The sale is reset or restarted. The new run opens the sale's row (`prepareSale`), or, reset to a later point, asks it
 *   once more before it completes (`askAgain`). It takes over what was decided and asked for, and plans the same
 *   movements: each meets the claim of the run before, and its answer.
 * - It is refunded a year later. A new run goes on from the end (`goOnFromTheEnd`). If the refund says `restock`, what the
 *   movements' rows say was taken goes back to stock (`src/ledger/stock/of-sale.ts`).
 *
 * Which file decides what then: `docs/architecture.md`, "A movement is out".
 *
 * Stands on: `src/contract`, `workflows`, `workflows/calls`, `workflows/document`, `workflows/operator`,
 * `workflows/sdk`, `workflows/stock`.
 */
import { workflowInfo } from "@temporalio/workflow";

import {
  type ExpectedDocument,
  type FinishedSale,
  isSameRefund,
  type PreparedSale,
  type SaleOutcome,
  type SaleStart,
} from "../../src/contract/index.ts";
import { awaitFinalStatus, type FinalStatus, unlessGivenUp } from "../document/await-authority.ts";
import { compareDocument, type Created, createDocument } from "../document/create-document.ts";
import { unlessCancelled } from "../operator/attention-list.ts";
import { main } from "../proxies.ts";
import { countDocument, invalidInput, timeReceipt } from "../sdk/interceptors.ts";
import { planMovements, StockKeeping } from "../stock/stock-keeping.ts";
import { registerMessages, withReplacement, withReturnDate } from "./messages.ts";
import { contextOf, isKnownToBeReset, isReset, type SaleContext, SaleState } from "./state.ts";
import { fixItems, registerMissing, resolveBranch, type ResolvedLines, resolveItems } from "./steps/items.ts";
import { stayOpenForRefund } from "./steps/refund.ts";
import { NoteKeeping, runToCompletion } from "./view.ts";

/**
 * One sale, from its start to its signed receipt and the end of its refund window. It fails only for input that nobody
 * can correct.
 */
export async function sale(input: SaleStart): Promise<SaleOutcome> {
  const run = new SaleState("sale", String(input?.traderInvoiceNumber), "resolving-items");
  registerMessages(run);
  return await runToCompletion(run, async () => {
    const startedAtMs = workflowInfo().startTime.getTime();
    const start = { input, startedAtMs, reset: run.continuesEarlierRun, isReset: isReset(), sent: run.earlierRunSent };
    // What the row answers: `finished`, nothing is left but a refund; `earlier`, what a run before this one has done or
    // been asked for. A run that was reset to a later point replays the old answer, so that `askAgain` asks once more.
    const open = () => main.prepareSale("Check the sale", start);
    const answer = await open();
    const { lines } = input;
    const prepared: PreparedSale = { ...answer, sale: { ...answer.sale, ...(lines && { lines }) } };
    run.connection = prepared.profile.connection;
    run.businessId = prepared.profile.businessId;
    run.fingerprint = prepared.fingerprint;
    run.refundChecks = prepared.refundChecks;
    run.expectedTotal = prepared.sale.expectedTotal;
    run.wasReset = prepared.isReset === true;
    run.prepared = true;
    // A worker that has the request may not have claimed it yet: a restart knows that it was handed out.
    run.earlierRunSent ||= prepared.earlier?.sent === true;
    run.earlierRunSigned = prepared.earlier?.signed === true;
    run.earlierDocument = prepared.earlier?.document ?? null;
    run.takeOverDecisions(prepared.earlier?.decisions ?? []);
    const known = prepared.earlier?.refund;
    const asked = run.refund ?? (input.refund && withReturnDate(input.refund));
    run.refund = known ? withReplacement(known, asked, run.businessId) : asked;
    // Of a signed sale a cancellation means its credit note. `due`: the one that this run is to issue. `meant`: the one
    // that the cancellation was about. A run that was reset gets all messages again, so there it is the one that had been
    // asked for before the cancellation; if that is not the one that is due, it was given up since, and the wish with it.
    const due = run.refund?.traderInvoiceNumber ?? run.refundAsked;
    const meant = run.wasReset && run.refundAsked !== undefined ? run.cancelledAfter : due;
    if ((prepared.finished || run.earlierRunSigned) && meant !== undefined) {
      if (meant === due && run.cancelRequested !== undefined) {
        const reason = run.cancelRequested;
        const { by } = run.decisions.find(({ update, note }) => update === "cancel" && note === reason) ?? {};
        run.creditNoteCancelRequested = { reason, by };
      }
      run.cancelRequested = undefined;
    }
    run.creditNoteCancelRequested ??= cancellationOf(prepared.earlier);
    run.cancelRequested ??= prepared.earlier?.cancelRequested;
    const context = contextOf(run, prepared.profile, prepared.sale.callback);
    if (prepared.finished) {
      await goOnFromTheEnd(context, prepared.finished);
      return;
    }
    run.notes = new NoteKeeping(context);
    if (prepared.earlier) run.notes.noteAnew();
    const stock = new StockKeeping(context);
    // Another run may have been asked for a refund after the point to which this one was reset.
    const askAgain = async (before: "completed" | "its end"): Promise<void> => {
      if (!isKnownToBeReset(before)) return;
      const earlier = (await open().catch(() => undefined))?.earlier;
      if (earlier?.refund) {
        if (!isSameRefund(run.refund, earlier.refund, run.businessId)) run.creditNoteCancelRequested = undefined;
        run.refund = earlier.refund;
      }
      run.creditNoteCancelRequested ??= cancellationOf(earlier);
    };
    await runSale(context, prepared, stock, () => askAgain("completed"));
    // A run that was reset to a point in its refund window is past the question before `completed`. It can ask here: what
    // it replays of the run before has no step after this.
    if (run.stage === "completed") await askAgain("its end");
    if (run.stage === "completed" && run.refund) await stayOpenForRefund(context, stock, 0);
  });
}

/** Nothing is left but a refund, if one is asked for. */
async function goOnFromTheEnd(context: SaleContext, finished: FinishedSale): Promise<void> {
  const { run } = context;
  const { stage, document, creditNote, refund, correction, movements, inAll } = finished;
  run.document = document;
  run.earlierCreditNote = creditNote;
  run.correction = correction;
  if (refund) run.refund = refund;
  run.movements.push(...movements);
  run.inAll = inAll;
  run.numberTaken = true;
  run.moveTo(stage, "nothing: it ended under an earlier workflow");
  if (stage !== "completed") return;
  run.notes = new NoteKeeping(context);
  await stayOpenForRefund(context, new StockKeeping(context), 0);
}

/** The row has no name beside it. */
function cancellationOf(earlier: PreparedSale["earlier"]): SaleState["creditNoteCancelRequested"] {
  const reason = earlier?.creditNoteCancelRequested;
  return reason === undefined ? undefined : { reason };
}

async function runSale(
  context: SaleContext,
  prepared: PreparedSale,
  stock: StockKeeping,
  askAgain: () => Promise<void>,
): Promise<void> {
  const { run } = context;
  const { sale } = prepared;
  run.moveTo("resolving-items", "the items of its lines");
  let goods: { lines: ResolvedLines | undefined } | undefined;
  const end = await unlessGivenUp(context, async () => {
    goods ??= await unlessCancelled(run, async () => {
      context.branch = await resolveBranch(context, sale.branch);
      return { lines: await resolveGoods(context, prepared) };
    });
    return await issueAndAwait(context, prepared, goods.lines, stock);
  });
  if (end === "completed") {
    countDocument(run.counted, "signed");
    timeReceipt(run.counted, Date.now() - workflowInfo().startTime.getTime());
    // The document is signed all the same.
    if (run.totalDiffers !== undefined)
      run.raise({ code: "mismatch", subject: "expectedTotal", message: run.totalDiffers });
    await askAgain();
    run.moveTo("completed", "its stock movements");
    stock.watchGivenBack();
    await stayOpenForRefund(context, stock, prepared.refundWindowMs);
  } else {
    run.givenUp = true;
    // An unknown movement is resolved before the sale is `cancelled`: only what was taken can go back.
    run.moveTo(run.stage, "the return of its goods to stock");
    await stock.undo(sale.traderInvoiceNumber);
    run.moveTo("cancelled", "nothing");
    countDocument(run.counted, "given-up");
    await run.noAttentionOpen();
  }
}

/** Each known to the authority. An adopted sale may come without lines, and is registered already. */
async function resolveGoods(context: SaleContext, { sale, items }: PreparedSale): Promise<ResolvedLines | undefined> {
  if (!sale.lines) return undefined;
  const goods = await resolveItems(context, sale.lines, items);
  for (const { id, name } of goods.items) if (name) context.run.itemNames.set(id, name);
  const isRegistering = (waitingFor: string): void => context.run.moveTo("registering", waitingFor);
  if (sale.saleId === undefined) await registerMissing(context, goods.items, isRegistering);
  return goods;
}

async function issueAndAwait(
  context: SaleContext,
  prepared: PreparedSale,
  goods: ResolvedLines | undefined,
  stock: StockKeeping,
): Promise<FinalStatus> {
  const { run, profile } = context;
  const { sale } = prepared;
  const callbacksSeen = run.callbacksReceived;
  const mode = sale.stock ?? (sale.saleId === undefined ? profile.stock : "off");
  const movements = goods ? planMovements(sale.traderInvoiceNumber, "sold", goods.lines, goods.items) : [];
  if (mode !== "off") stock.planned = movements;
  run.movementsPlanned = stock.planned.length;
  const adopted = sale.saleId === undefined ? undefined : await adoptSale(context, sale.saleId, prepared, goods);
  const created = adopted ?? (goods && (await issueSale(context, prepared, goods)));
  if (!created) throw new Error("a sale that is not adopted has lines");
  const { document, callbackExpected } = created;
  // What becomes of a movement whatever happens: docs/architecture.md, "A movement is out", and docs/failure-model.md,
  // "Stock movements". The document never waits for it: `stock.move` is not awaited.
  const startMovementsOnce = (): void => {
    // Nothing else has moved stock by now.
    if (run.movements.length > 0) return;
    stock.move(movements);
  };
  run.document = document;
  // Only after 201 or 202: a rejected document has sold nothing yet.
  if (mode === "on-submission" && document.status !== "failed" && document.status !== "cancelled") startMovementsOnce();
  const fixed = new Set<string>();
  const fix = (): Promise<boolean> => fixItems(context, run.document ?? document, fixed);
  const end = await awaitFinalStatus(context, document, { callbackExpected, callbacksSeen, fixItems: fix });
  if (mode !== "off" && end === "completed") startMovementsOnce();
  return end;
}

async function issueSale(
  context: SaleContext,
  { sale, composed }: PreparedSale,
  { lines }: ResolvedLines,
): Promise<Created> {
  const { run, calls, profile, target, branch, callback } = context;
  const { traderInvoiceNumber, saleDate, paymentTypeCode, customer } = sale;
  const content = { traderInvoiceNumber, saleDate, paymentTypeCode, customer, lines, branch };
  const { saleKey } = profile;
  const writes = saleKey === "trusted" ? calls.keyedWrite : calls.unrepeatableWrite;
  const asked = { ...target, ...content, callback, workflowId: run.workflowId };
  run.moveTo("submitting", "the answer to the sale's creation");
  return await createDocument(context, {
    step: "sale",
    content: run.fingerprint ?? traderInvoiceNumber,
    expected: { type: "sale", traderInvoiceNumber, customerPin: customer?.pin ?? null, lines },
    composed,
    compose: () => main.composeSale("Write the sale's request", asked),
    send: (request) => writes.createSale(`Issue the sale ${traderInvoiceNumber}`, { ...target, ...request, saleKey }),
  });
}

/**
 * A sale that was issued elsewhere must have this number, and these lines if they are given: nobody can correct that
 * here.
 * @throws ApplicationFailure InvalidInput
 */
async function adoptSale(
  context: SaleContext,
  saleId: string,
  prepared: PreparedSale,
  resolved?: ResolvedLines,
): Promise<Created> {
  context.run.moveTo("submitting", "the sale that was issued elsewhere");
  const expected: ExpectedDocument = {
    type: "sale",
    traderInvoiceNumber: prepared.sale.traderInvoiceNumber,
    ...(resolved && { lines: resolved.lines }),
  };
  const { document, differences } = await compareDocument(context, saleId, { expected, mayBeAnothers: true });
  if (!differences) return { document, callbackExpected: false };
  throw invalidInput("sale input", [`saleId: ${saleId} is not this sale: ${differences.join("; ")}`]);
}
