import { ApplicationFailure, CancellationScope } from "@temporalio/workflow";

import {
  CANCELLED_IN_TEMPORAL,
  type CallTarget,
  type CorrectionInput,
  type CorrectionOutcome,
  FAILURES,
  fewOf,
  type PreparedCorrection,
} from "../../src/contract/index.ts";
import { callWithEscalation } from "../calls/between-tries.ts";
import { registerJobMessages, runJobToCompletion } from "../job/job.ts";
import { CancelledByOperator, unlessCancelled } from "../operator/attention-list.ts";
import { callsOf, ledger, mainWaits } from "../proxies.ts";
import { registerMissing, resolveBranch } from "../sale/steps/items.ts";
import { invalidInput } from "../sdk/interceptors.ts";
import { CORRECTION_UPDATES, CorrectionRun } from "./correction-run.ts";
import { creditSale } from "./credit.ts";
import { issueCorrectedSale } from "./issue.ts";

/**
 * Corrects a signed sale: prepare → credit it, its goods going back → issue the corrected sale, which takes its own →
 * corrected. All that can be known to stand against the corrected sale is looked at before anything is credited
 * (docs/decisions/0018). It fails only while nothing is credited.
 */
export async function correctSale(input: CorrectionInput): Promise<CorrectionOutcome> {
  const run = new CorrectionRun(input);
  registerJobMessages(run, CORRECTION_UPDATES);
  CancellationScope.current().cancelRequested.catch(() => run.requestCancel(CANCELLED_IN_TEMPORAL));
  return await CancellationScope.nonCancellable(() =>
    runJobToCompletion(async () => {
      await correct(run, input);
      return run.progress;
    }),
  );
}

async function correct(run: CorrectionRun, input: CorrectionInput): Promise<void> {
  const prepared = await unlessCancelled(run, () => prepare(run, input)).catch((error: unknown) => {
    if (error instanceof CancelledByOperator) return undefined;
    throw error;
  });
  if (!prepared) {
    run.moveTo("cancelled", "nothing", { message: `Cancelled: ${run.cancelRequested ?? ""}` });
    return;
  }
  const { connection, businessId } = prepared.profile;
  const target: CallTarget = { connection, businessId };
  const { invoice, creditNote } = input;
  const correctedBy = input.sale.traderInvoiceNumber;
  const { fingerprint } = prepared;
  run.moveOn("the ledger");
  // Not to be cancelled: an attempt of it that came late would leave the sale taken.
  const asked = { ...target, invoice, correctedBy, creditNote, fingerprint };
  const begun = await ledger.beginCorrection("Take the sale for this correction", asked);
  if (begun.kind === "taken") throw ApplicationFailure.nonRetryable(begun.message, FAILURES.conflict);
  const end = async (stage: "corrected" | "credited" | "cancelled", change: Partial<CorrectionOutcome>) => {
    await ledger.endCorrection("Write down how the correction ended", { ...target, invoice, stage });
    run.moveTo(stage, "nothing", change);
  };
  if (run.cancelDue) {
    await end("cancelled", { message: `Cancelled: ${run.cancelRequested ?? ""}` });
    return;
  }
  run.moveTo("crediting", `the credit note ${creditNote}`);
  const credited = await creditSale(run, target, input);
  if (credited.kind !== "credited") {
    await end(credited.kind === "accepted" ? "credited" : "cancelled", { message: credited.message });
    return;
  }
  run.moveTo("issuing", `the signature of the corrected sale ${correctedBy}`);
  const issued = await issueCorrectedSale(run, target, input, prepared);
  const { message } = credited;
  if (issued) await end("corrected", { receipt: issued.receipt ?? null, ...(message !== undefined && { message }) });
  else {
    const notIssued = `No corrected sale was issued: ${run.decisions.at(-1)?.note ?? ""}`;
    await end("credited", { message: [notIssued, ...(message === undefined ? [] : [message])].join(". ") });
  }
}

/** Nothing is credited before this has passed. */
async function prepare(run: CorrectionRun, input: CorrectionInput): Promise<PreparedCorrection> {
  run.moveOn("what is known of both sales");
  const startedAtMs = Date.now();
  const prepared = await mainWaits.prepareCorrection("Check the correction", { input, startedAtMs });
  const { connection, businessId } = prepared.profile;
  run.businessId = businessId;
  const calls = callsOf(run, prepared.profile);
  const target = { connection, businessId };
  if (prepared.resumed) return prepared;
  const { branch: name, lines } = prepared.sale;
  run.moveOn("the items of the corrected sale");
  const branch = await resolveBranch({ run, calls, target }, name);
  const found = await callWithEscalation(run, () =>
    calls.read.readItems("Find the items of the lines in the catalogue", { ...target, lines }),
  );
  if (found.kind === "unknown") {
    const problems = fewOf(found.unknown.map(({ line, reason }) => `sale.lines[${line}]: ${reason}`));
    throw invalidInput("corrected sale", problems);
  }
  await registerMissing({ run, calls, target, branch }, found.items, (waitingFor) => run.moveOn(waitingFor));
  return prepared;
}
