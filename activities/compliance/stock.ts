import { BRANCH_NOT_SENT, branchSentAs, classifyMovement } from "../../src/compliance/index.ts";
import {
  type AdjustStockRequest,
  type AdjustStockResult,
  type AppliedMovement,
  type BranchHold,
  type ComplianceActivities,
  differsByMoreThan,
  type KnownMovement,
  type OtherBranch,
  type StockAction,
  type StockAdjustment,
  sumOf,
  type TakingExecution,
  type UnknownOutcome,
} from "../../src/contract/index.ts";
import type { Deadline } from "../../src/http/deadline.ts";
import {
  type BalanceEvidence,
  type ClaimedMovement,
  type Ledger,
  LedgerUnavailableError,
  type MovementKey,
  type UnderWay,
} from "../../src/ledger/index.ts";
import { claimedCall, type ClassifiedCall, currentWriter, notServedMessage } from "../classified-call.ts";
import { type ActivityContext, callAndClassify, type ComplianceRuntime } from "./calls.ts";

/** Sends a stock adjustment at most once for each claim. */
export function createStockActivities(context: ActivityContext) {
  const { ledger } = context;
  return {
    async adjustStock(request) {
      const runtime = context.connections.get(request.connection);
      // A result, since a failure would not say that nothing was sent.
      if (!runtime)
        return { kind: "deferred", sameTry: true, message: notServedMessage(context.connections, request.connection) };
      const claim = { ...request, ...request.claim };
      const result = await claimedCall(context, {
        callTimeoutMs: runtime.profile.timings.callTimeoutMs,
        take: (by) => takeMovement(context, runtime, request, by),
        send: (sendBefore) => send(runtime, request, sendBefore),
        done: (data, meaning, sentAtMs) => appliedOf(context, runtime, request, { data, meaning, sentAtMs }),
        not: "not-applied",
        settle: (outcome) => ledger.stock.settle({ ...claim, outcome, writer: currentWriter() }),
        ended: (by) => ledger.stock.ended({ ...claim, ...by }),
      });
      if (result.kind !== "applied") return await withLastBalance(ledger, request, result);
      return result.unsettled ? result : await withoutKnownBranch(context, request, result);
    },
  } satisfies Partial<ComplianceActivities>;
}

function send(
  runtime: ComplianceRuntime,
  request: AdjustStockRequest,
  sendBefore: Deadline,
): Promise<ClassifiedCall<StockAdjustment>> {
  const { businessId, referenceId, itemId, action, quantity, unitPrice, branch } = request;
  const movement = { referenceId, itemId, action, quantity, unitPrice, branch };
  const call = () => runtime.client.adjustStock(movement, { businessId, sendBefore });
  return callAndClassify(runtime, "adjustStock", request, call, classifyMovement);
}

function appliedOf(
  { observer }: ActivityContext,
  runtime: ComplianceRuntime,
  request: AdjustStockRequest,
  { data, meaning, sentAtMs }: { data: StockAdjustment; meaning: { kind: string }; sentAtMs: number },
): AppliedMovement {
  const { movementId, branchId, quantityOnHand, report } = data;
  const { branch } = request;
  if (report === undefined) noteUnreadReport(runtime, observer);
  const otherBranch = otherBranchOf(runtime, request, branchId);
  if (otherBranch) noteOtherBranch(runtime, otherBranch, observer);
  return {
    kind: "applied",
    movementId,
    // The answer may have either of the branch's two names; the branch's own id is kept.
    branchId: branch && branchId === branch.authorityBhfId ? branch.id : branchId || undefined,
    quantityOnHand,
    report:
      meaning.kind === "unreported"
        ? { stockIo: report?.stockIo ?? "missing", stockMaster: report?.stockMaster ?? "missing" }
        : undefined,
    ...(otherBranch && { otherBranch }),
    sentAtMs,
  };
}

/** The branch of the answer, if it is neither of the two names of the one that was asked for. */
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
    `The movement was asked for in branch "${asked}", and the answer names branch "${answered}": ${sent}, and the API ` +
    `may use another name. The movement is made, in the branch that the answer names. Connection ${profile.connection} sends no other ` +
    "movement to a named branch until somebody has looked. If the branch is wrong, set stock.branch and stock.branchBy in " +
    "COMPLIANCE_DIALECT and move the goods by hand; acknowledge this once you have looked.";
  return { sentAs: branchSentAs(dialect.stock), asked, answered, message };
}

/** Also after an operator has acknowledged it. */
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

/** The movement counts as applied: a field name that the API does not document must not park sales (failure model). */
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

type Taken =
  | { kind: "taken" }
  | UnderWay
  | KnownMovement
  | Extract<AdjustStockResult, { kind: "branch-held" | "not-applied" }>;

/** Anything but `taken` is known of the movement already, or says why it may not be sent. */
async function takeMovement(
  { ledger, nowMs }: ActivityContext,
  { dialect }: ComplianceRuntime,
  request: AdjustStockRequest,
  by: TakingExecution,
): Promise<Taken> {
  const sentAs = request.branch && branchSentAs(dialect.stock);
  const answer = await ledger.stock.take({
    ...request,
    ...request.claim,
    ...by,
    movement: claimedMovement(request),
    branchSentAs: sentAs === BRANCH_NOT_SENT ? undefined : sentAs,
    writer: currentWriter(),
    nowMs: nowMs(),
  });
  if (answer.kind === "branch-held") return { ...answer, message: branchHeldMessage(request, answer.hold) };
  if (answer.kind === "given-up") return { kind: "superseded", generation: request.claim.generation, givenUp: true };
  return answer.kind === "different" ? differentMovement(request, answer) : answer;
}

/** Somebody who has looked at a pair of branches once need not look at it for each movement. */
async function withoutKnownBranch(
  { ledger }: ActivityContext,
  request: AdjustStockRequest,
  { otherBranch, ...applied }: AppliedMovement,
): Promise<AppliedMovement> {
  if (!otherBranch) return applied;
  try {
    if (await ledger.stock.isBranchAcknowledged(request, otherBranch)) return applied;
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
  }
  return { ...applied, otherBranch };
}

function branchHeldMessage({ connection }: AdjustStockRequest, { referenceId, asked, answered }: BranchHold): string {
  return (
    `The answer to ${referenceId} named branch "${answered}" where "${asked}" was asked for. Connection ${connection} sends no movement ` +
    "to a named branch until an operator has acknowledged that, or stock.branch or stock.branchBy of COMPLIANCE_DIALECT is changed; " +
    `then this one is sent by itself. Where ${referenceId} no longer waits to be acknowledged: check the branch, then retry this ` +
    "movement with a note that says what you found, which lifts the hold. A retry without a note only tries again."
  );
}

/** An earlier run sent something else under this reference. */
function differentMovement(
  { referenceId }: AdjustStockRequest,
  { claimed, state }: { claimed: { itemId: string; action: string; quantity: number }; state: string },
): UnknownOutcome | Extract<AdjustStockResult, { kind: "not-applied" }> {
  const other = `${claimed.action} ${claimed.quantity} of ${claimed.itemId}`;
  const message = `An earlier run sent another movement under ${referenceId}: ${other}, which is ${state === "held" ? "of unknown outcome" : state}.`;
  if (state === "held") return { kind: "unknown", message, evidence: { earlierMovement: claimed } };
  const details = { earlierMovement: claimed };
  return { kind: "not-applied", refusal: { kind: "refused", attention: "stock-refused", message, details } };
}

export function claimedMovement(
  request: Pick<AdjustStockRequest, "itemId" | "action" | "quantity" | "unitPrice" | "branch">,
): ClaimedMovement {
  const { itemId, action, quantity, unitPrice, branch } = request;
  return { itemId, action, quantity, unitPrice, ...(branch && { branch: branch.id }) };
}

/** Quantities are compared as exactly as JSON writes them. */
const EXACT = 0;

/** Shows the last balance with a movement of unknown outcome. It is evidence alone, so it may be missing. */
export async function withLastBalance<Known extends { kind: string }>(
  { stock }: Ledger,
  key: MovementKey,
  answer: Known | UnknownOutcome,
): Promise<Known | UnknownOutcome> {
  if (!isUnknown(answer)) return answer;
  try {
    return { ...answer, evidence: { ...answer.evidence, ...lastBalance(await stock.balanceAround(key)) } };
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return answer;
    throw error;
  }
}

function isUnknown(answer: { kind: string }): answer is UnknownOutcome {
  return answer.kind === "unknown";
}

export function lastBalance(balance: BalanceEvidence | undefined): Record<string, unknown> {
  if (!balance?.before) return {};
  const { quantityOnHand, atMs } = balance.before;
  return { lastQuantityOnHand: quantityOnHand, lastSeenAt: new Date(atMs).toISOString() };
}

/**
 * Whether the first balance after an unknown movement speaks for or against it, from the last balance before and the
 * movements in between. `neither`: another unknown movement lies between, or it fits none of the two.
 */
export function laterBalance(
  balance: BalanceEvidence | undefined,
  movement: { action: StockAction; quantity: number },
): Record<string, unknown> | undefined {
  if (!balance?.after) return undefined;
  const { before, after, between } = balance;
  const seen = { laterQuantityOnHand: after.quantityOnHand, laterSeenAt: new Date(after.atMs).toISOString() };
  if (!before) return { ...lastBalance(balance), ...seen, balanceSpeaks: "neither" };
  const without = sumOf([before.quantityOnHand, ...between.map(signed)]);
  const withIt = sumOf([without, signed(movement)]);
  const clouded = between.some(({ state }) => state === "unknown");
  const is = (expected: number): boolean => !differsByMoreThan(EXACT, after.quantityOnHand, expected);
  const speaks = clouded ? "neither" : is(withIt) ? "for" : is(without) ? "against" : "neither";
  return { ...lastBalance(balance), ...seen, expectedIfApplied: withIt, expectedIfNot: without, balanceSpeaks: speaks };
}

function signed({ action, quantity }: { action: StockAction; quantity: number }): number {
  return action === "ADD" ? quantity : -quantity;
}
