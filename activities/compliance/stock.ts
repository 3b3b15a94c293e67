import { ApplicationFailure, Context } from "@temporalio/activity";

import {
  branchSentAs,
  classifyMovement,
  ComplianceApiError,
  UnexpectedAnswerError,
} from "../../src/compliance/index.ts";
import {
  type AdjustStockRequest,
  type AdjustStockResult,
  type AppliedMovement,
  type ComplianceActivities,
  type OtherBranch,
  setApplied,
} from "../../src/contract/index.ts";
import { TransportError } from "../../src/http/errors.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { EarlierRunsUnreadError } from "../earlier-runs/earlier-runs.ts";
import { afterQuotaMs } from "../failure.ts";
import { writerOf } from "../ledger/claim-results.ts";
import { type ActivityContext, callAndClassify, type ComplianceRuntime, refusalOf, servesNo } from "./calls.ts";
import { StockClaim } from "./stock-claim.ts";

/**
 * A stock adjustment is sent at most once (docs/architecture.md, "At most once"), so nothing here throws in order to be
 * repeated, and nothing is tied to the activity's cancellation: an aborted request would be one more unknown outcome.
 */
export function createStockActivities(context: ActivityContext): Pick<ComplianceActivities, "adjustStock"> {
  const { nowMs } = context;
  return {
    async adjustStock(request) {
      const runtime = context.connections.get(request.connection);
      // Nothing was sent, and only a result says so: a failure would be one more unknown outcome.
      if (!runtime) return { kind: "deferred", sameTry: true, message: servesNo(context, request.connection) };
      if (request.sentFor?.reset) throw chunkWasReset();
      const sentAs = request.branch && branchSentAs(runtime.dialect.stock);
      const claim = new StockClaim(context.ledger, request, sentAs, nowMs);
      const taken = await takeClaim(context, request, claim);
      if (taken !== "taken") return taken;
      const result = await send(runtime, request, context);
      switch (result.kind) {
        case "applied":
          if (!(await claim.settle(result))) return { ...result, unsettled: true };
          return await saveRecordWithAnswer(context, request, await claim.withoutKnownBranch(result));
        case "deferred":
          await claim.settle({ kind: "not-applied", message: result.message });
          return result;
        case "not-applied":
          await claim.settle({ kind: "not-applied", message: result.refusal.message });
          return result;
        default:
          return { ...result, evidence: { ...result.evidence, ...(await claim.lastBalance()) } };
      }
    },
  };
}

/**
 * Keeps the record that came with the movement. Where anything has to be said of the answer the workflow keeps it, and
 * so it does where the ledger does not take it: an answer is never lost for its record.
 */
async function saveRecordWithAnswer(
  { ledger }: ActivityContext,
  { connection, businessId, referenceId, record }: AdjustStockRequest,
  answer: AppliedMovement,
): Promise<AppliedMovement> {
  if (!record || answer.report || answer.otherBranch) return answer;
  const movements = record.movements.map((movement) => {
    const told = { ...movement };
    if (told.referenceId === referenceId) setApplied(told, answer);
    return told;
  });
  try {
    const writer = writerOf(Context.current().info);
    const kept = await ledger.records.saveDocument({ connection, businessId }, { ...record, movements }, writer);
    return kept === "saved" || kept === "unchanged" ? { ...answer, recorded: true } : answer;
  } catch {
    return answer;
  }
}

/**
 * The tries of a chunk are those of its sale, so the run before may have sent them. Ended without an answer, each is
 * asked for in its claim, and what was not sent is sent by the sale, under a try of its own.
 */
function chunkWasReset(): ApplicationFailure {
  return ApplicationFailure.nonRetryable("The workflow that sends it was reset, and may have sent it before.");
}

/**
 * Without a claim nothing leaves; and no claim is taken before it is known what earlier runs of this workflow's id did.
 */
async function takeClaim(
  context: ActivityContext,
  { sentFor }: AdjustStockRequest,
  claim: StockClaim,
): Promise<"taken" | AdjustStockResult> {
  try {
    await context.earlierRuns.takeOver(sentFor ?? Context.current().info.workflowExecution);
    return await claim.take();
  } catch (error) {
    if (error instanceof LedgerUnavailableError)
      return { kind: "deferred", sameTry: true, waitFor: "ledger", message: error.message };
    if (error instanceof EarlierRunsUnreadError) return { kind: "deferred", sameTry: true, message: error.message };
    throw error;
  }
}

type Sent = Extract<AdjustStockResult, { kind: "applied" | "deferred" | "not-applied" | "unknown" }>;

async function send(
  runtime: ComplianceRuntime,
  request: AdjustStockRequest,
  { nowMs, random, observer }: ActivityContext,
): Promise<Sent> {
  const { businessId, referenceId, itemId, action, quantity, unitPrice, branch } = request;
  const sentAtMs = nowMs();
  const classified = await callAndClassify(
    runtime,
    "adjustStock",
    request,
    () => runtime.client.adjustStock({ referenceId, itemId, action, quantity, unitPrice, branch }, { businessId }),
    (result) => classifyMovement(result, runtime.dialect),
  );
  const { meaning, data, message, error } = classified;
  if (data) {
    const { movementId, branchId, quantityOnHand, report } = data;
    if (report === undefined) noteUnreadReport(runtime, observer);
    const otherBranch = otherBranchOf(runtime, request, branchId);
    if (otherBranch) noteOtherBranch(runtime, otherBranch, observer);
    const shown = meaning.kind === "unreported" ? { stockIo: "missing", stockMaster: "missing", ...report } : undefined;
    return {
      kind: "applied",
      movementId,
      // Which of its two names an answer has is not shown; the branch's own id is kept.
      branchId: branch && branchId === branch.authorityBhfId ? branch.id : branchId || undefined,
      quantityOnHand,
      report: shown,
      ...(otherBranch && { otherBranch }),
      sentAtMs,
    };
  }
  if (meaning.kind === "deferred")
    return { kind: "deferred", retryAfterMs: afterQuotaMs(meaning.retryAfterMs, random), message };
  if (meaning.kind === "not-applied") return { kind: "deferred", message };
  const refusal = refusalOf(classified);
  if (refusal && meaning.kind !== "unexpected") return { kind: "not-applied", refusal };
  return { kind: "unknown", message, evidence: { sentAtMs, ...whatCameBack(error) } };
}

/**
 * Held against both names of the branch: which of them an answer has is not shown. An answer without a branch says
 * nothing.
 */
function otherBranchOf(
  { dialect, profile }: ComplianceRuntime,
  { branch }: AdjustStockRequest,
  answered: string,
): OtherBranch | undefined {
  const { branch: name, branchBy } = dialect.stock;
  if (!branch || name === null || answered === "") return undefined;
  if (answered === branch.id || answered === branch.authorityBhfId) return undefined;
  const asked = (branchBy === "authorityId" ? branch.authorityBhfId : branch.id) ?? branch.id;
  const sent = `the branch is sent as "${name}" (stock.branch) by ${branchBy === "id" ? "its id" : "the authority's id"} (stock.branchBy)`;
  const message =
    `The movement was asked for in branch "${asked}", and the answer names branch "${answered}": ${sent}, and the service ` +
    `may use another name. The movement is made, in the branch that the answer names. Connection ${profile.connection} sends no other ` +
    "movement to a named branch until somebody has looked. If the branch is wrong, set stock.branch and stock.branchBy in " +
    "COMPLIANCE_DIALECT and move the goods by hand; acknowledge this once you have looked.";
  return { sentAs: branchSentAs(dialect.stock), asked, answered, message };
}

/** What nobody looks at any more, once somebody has acknowledged it, is still counted. */
function noteOtherBranch(
  { dialect, profile }: ComplianceRuntime,
  { asked, answered }: OtherBranch,
  observer: ActivityContext["observer"],
): void {
  const { branch } = dialect.stock;
  observer.note({
    service: "compliance",
    connection: profile.connection,
    kind: "ignored",
    subject: "stock.branch",
    value: branch,
    message: `The answer to a stock movement names branch "${answered}" where "${asked}" was asked for`,
  });
}

/** The movement is applied all the same: a name that nobody has shown must not park sales (failure model). */
function noteUnreadReport({ dialect, profile }: ComplianceRuntime, observer: ActivityContext["observer"]): void {
  const { report } = dialect.stock;
  if (report === null) return;
  observer.note({
    service: "compliance",
    connection: profile.connection,
    kind: "not-read",
    subject: "stock.report",
    value: report,
    message: `The answer to a stock movement has no field "${report}", so its report to the tax authority is not read`,
  });
}

function whatCameBack(error: unknown): Record<string, unknown> {
  if (error instanceof TransportError) return { cameBack: error.code };
  if (error instanceof ComplianceApiError || error instanceof UnexpectedAnswerError)
    return { cameBack: `HTTP ${error.status}`, bodyExcerpt: error.bodyExcerpt ?? null };
  return { cameBack: error instanceof Error ? error.name : "nothing" };
}
