import { ApplicationFailure } from "@temporalio/common";

import {
  asAnswered,
  bounded,
  type EarlierRun,
  FAILURES,
  type FinishedSale,
  INSTEAD_OF_OTHER_CONTENT,
  withLinesThatFit,
} from "../../src/contract/index.ts";
import { type KeptSale, refundUnderWay } from "../../src/ledger/index.ts";

/**
 * Nothing may be cancelled, and no refund forgotten, before this is known: the run is told of its document by nobody
 * else.
 * @param kept what the ledger has of the sale, from another run
 * @param isClaimed a request of the sale was ever claimed
 * @param reset the run knows that it carries on another one
 * @returns undefined where the ledger knows of nothing that this run would carry on
 */
export function earlierRun(
  kept: KeptSale | undefined,
  isClaimed: boolean,
  fingerprint: string,
  reset: boolean,
): EarlierRun | undefined {
  const record = kept?.record.fingerprint === fingerprint ? kept.record : undefined;
  if (!reset && !record && !isClaimed) return undefined;
  const isSent = kept?.isSent === true || Boolean(record?.document);
  const earlier = { sent: isSent, signed: record?.document?.status === "completed" };
  if (!kept || !record) return earlier;
  const decided = record.movements.filter(({ decision }) => decision !== undefined);
  const { movements, decisions } = bounded({ movements: decided, attentions: [], decisions: kept.decisions });
  const refund = refundUnderWay(kept);
  const document = asAnswered(record.document);
  const cancelRequested = record.stage === "cancelled" ? undefined : record.cancelRequested;
  return {
    ...earlier,
    ...(document && { document }),
    ...(movements.length > 0 && { movements }),
    ...(decisions.length > 0 && { decisions }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    ...(refund && { refund }),
  };
}

export function finishedOf({ record, creditNote }: Pick<KeptSale, "record" | "creditNote">): FinishedSale {
  const { stage, refund } = record;
  const { movements, inAll } = bounded({ movements: record.movements, attentions: [], decisions: [] });
  const { correction } = record;
  const about = { ...(inAll && { inAll }), ...(correction && { correction }) };
  const finished = { stage, document: record.document && withLinesThatFit(record.document), movements, ...about };
  const note = creditNote?.record.document;
  if (note?.status !== "completed") return { ...finished, creditNote: null, ...(stage === "credited" && { refund }) };
  return { ...finished, stage: "credited", creditNote: asAnswered(note), refund: refund ?? creditNote?.record.refund };
}

export function conflict(number: string, words: readonly string[], { record, writer }: KeptSale): ApplicationFailure {
  const was = record.document
    ? `the document ${record.document.id} is ${record.document.status}`
    : `stage ${record.stage}`;
  return ApplicationFailure.nonRetryable(
    `The number ${number} belongs to another sale. What differs: ${words.join("; ")}. In the ledger: ${was}, kept by ${writer.workflowId}, run ${writer.runId}. Nothing was sent. ${INSTEAD_OF_OTHER_CONTENT}`,
    FAILURES.conflict,
  );
}
