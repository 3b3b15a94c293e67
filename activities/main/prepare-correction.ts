import { ApplicationFailure } from "@temporalio/common";

import {
  type ConflictDetails,
  correctionFingerprint,
  type CorrectionInput,
  creditConflict,
  doubtsOf,
  FAILURES,
  fingerprintOf,
  type MainActivities,
  refundDoubtsOf,
  refundOfCorrection,
  type RefusalDetails,
  saleContent,
  type SeenSale,
  UPDATES,
} from "../../src/contract/index.ts";
import { correctionInputSchema, InvalidInputError, parseInput } from "../../src/contract/schema/index.ts";
import { numberTaken } from "../ledger/beside-calls.ts";
import { invalid } from "./check-input.ts";
import { failOnInvalidInput, profileFor } from "./prepare.ts";
import { seeSale } from "./see-sale.ts";
import type { WaitContext } from "./waits.ts";

const WHAT = "input of the correction";

/**
 * The first activity of a correction. It finds all that stands against the corrected sale before the first one is
 * credited; what it lets pass can still happen, and is then an operator's.
 */
export function createPrepareCorrection(context: WaitContext) {
  const { connections, ledger } = context;
  return {
    async prepareCorrection({ input, startedAtMs }) {
      const { content, checks, ...prepared } = failOnInvalidInput(() => {
        const wanted = parseInput<CorrectionInput>(correctionInputSchema, input, WHAT);
        const profile = profileFor(connections, wanted, WHAT);
        const { connection, businessId } = profile;
        if (wanted.sale.businessId !== undefined && wanted.sale.businessId !== businessId)
          throw new InvalidInputError(WHAT, [`sale.businessId: expected ${businessId ?? "none"}, as of the sale`]);
        const sale = { ...wanted.sale, connection, ...(businessId !== undefined && { businessId }) };
        const checks = connections.get(connection)?.inputChecks;
        const found = saleContent(sale, businessId);
        return {
          profile,
          sale,
          content: found,
          saleFingerprint: fingerprintOf(found),
          fingerprint: correctionFingerprint(wanted, found),
          checks: checks?.mode === "refuse" ? checks : undefined,
        };
      });
      const { profile, saleFingerprint, fingerprint } = prepared;
      const { connection, businessId } = profile;
      const begun = await ledger.corrections.find({ connection, businessId }, input.invoice);
      // One that an earlier run has begun goes on from where that stopped.
      if (begun.some((one) => one.invoice === input.invoice && one.fingerprint === fingerprint))
        return { ...prepared, resumed: true };
      const original = await seeSale(context, profile, input.invoice);
      refuseUnlessCreditable(input, original);
      const { saleId } = original;
      if (saleId !== undefined && original.creditedBy === undefined) {
        const of = { type: "credit_note", number: input.creditNote, originalSaleId: saleId } as const;
        // One that is issued at this moment gets past this: its row decides in the end.
        const owner = await ledger.documents.numberOwner({ connection, businessId, of });
        if (owner)
          throw conflictFailure(`${numberTaken(input.creditNote, owner)} Nothing was done. Use another number.`);
      }
      const corrected = await seeSale(context, profile, content.traderInvoiceNumber);
      refuseUnlessIssuable(content.traderInvoiceNumber, saleFingerprint, corrected);
      const doubts = checks
        ? [
            ...(corrected === null ? doubtsOf(prepared.sale, checks, startedAtMs) : []),
            ...(original.refund ? [] : refundDoubtsOf(input, checks, startedAtMs, original.saleDate)),
          ]
        : [];
      if (doubts.length > 0) throw invalid(WHAT, doubts);
      return { ...prepared, resumed: false };
    },
  } satisfies Partial<MainActivities>;
}

function refuseUnlessCreditable(input: CorrectionInput, original: SeenSale | null): asserts original is SeenSale {
  const { invoice } = input;
  if (!original)
    throw refusal(
      `There is no sale ${invoice}: neither Temporal nor the ledger knows it. Check the invoice number.`,
      FAILURES.notFound,
    );
  const { stage, refund, creditedBy } = original;
  if (stage === "cancelled")
    throw refusal(
      `The sale ${invoice} was never signed. Start the corrected sale as a new sale (\`fiscalflow sale start\`).`,
    );
  if (stage !== "completed" && stage !== "crediting" && stage !== "credited") {
    if (original.run === "stopped")
      throw refusal(
        `The sale ${invoice} ended at stage ${stage} (${original.failure ?? "terminated"}), and only a signed sale can be corrected. Restart it (\`fiscalflow sale restart\`), and correct it once it is signed.`,
      );
    const instead =
      "Wait until it is signed; or cancel it, and start the corrected sale as a new sale (`fiscalflow sale start`)";
    const message = `The sale ${invoice} is at stage ${stage}, and only a signed sale can be corrected. ${instead}.`;
    throw refusal(message, FAILURES.notAllowed, { allowed: original.run === "open" ? [UPDATES.cancel] : [] });
  }
  const conflict = refund && creditConflict(refund, refundOfCorrection(input, original));
  if (conflict) throw conflictFailure(conflict.message, conflict.fields);
  if (creditedBy !== undefined && !refund)
    throw conflictFailure(
      `The sale ${invoice} is credited already, by ${creditedBy}, which was not issued here. Nothing was done. Start the corrected sale as a new sale (\`fiscalflow sale start\`).`,
    );
}

function refuseUnlessIssuable(number: string, fingerprint: string, corrected: SeenSale | null): void {
  if (!corrected) return;
  const { stage, numberTaken, fingerprint: known } = corrected;
  if (known !== undefined && known !== fingerprint)
    throw conflictFailure(`The number ${number} belongs to another sale. Nothing was done. Use another number.`);
  const gone = (stage === "cancelled" && numberTaken) || stage === "crediting" || stage === "credited";
  if (gone)
    throw conflictFailure(
      `The sale ${number} is ${stage === "cancelled" ? "cancelled" : "credited"} already. Nothing was done. Use another number.`,
    );
  // By this correction it was not: what a correction has begun is in the ledger, and resumed.
  if (stage === "completed")
    throw conflictFailure(
      `The sale ${number} is sold already. Nothing was done. Use another number; or, if it is the corrected sale, refund the wrong one.`,
    );
}

function refusal(
  message: string,
  type: string = FAILURES.notAllowed,
  ...details: RefusalDetails[]
): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${message} Nothing was done.`, type, ...details);
}

function conflictFailure(message: string, fields: string[] = []): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FAILURES.conflict, { fields } satisfies ConflictDetails);
}
