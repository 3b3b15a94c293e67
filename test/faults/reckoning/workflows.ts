import { WITHOUT_ENVELOPE } from "../../../src/compliance/errors.ts";
import type { SeenAttention } from "../drive/operator.ts";
import type { Button } from "../plan/button-plan.ts";
import { type Evidence, outcomeOf } from "./evidence.ts";
import type { Chronicle } from "./chronicle.ts";
import { expectedOf, isAskedOfGoodsGivenBack, isEndedByHand } from "./expected.ts";
import { answeredWithWrongTypes } from "./movements.ts";

/** No sale is lost: each that was started has come to the end that its shape has. */
export function salesLost(evidence: Evidence): string[] {
  const { storm, chronicles } = evidence;
  const byId = new Map(chronicles.map((chronicle) => [chronicle.workflowId, chronicle]));
  return [...storm.sales].flatMap(([workflowId, sale]) => {
    const { number, shape } = sale;
    const chronicle = byId.get(workflowId);
    const outcome = outcomeOf(chronicle);
    const { ends } = expectedOf(evidence, workflowId, sale);
    if (outcome?.stage === ends) return [];
    return [`${number} (${shape}): is ${outcome?.stage ?? chronicle?.status ?? "not there"}, expected ${ends}`];
  });
}

/**
 * Invariant 4: what an operator can correct fails no workflow. A run that was ended by hand is carried on by the next
 * one.
 */
export function workflowsThatFailed({ storm, chronicles }: Evidence): string[] {
  const documents = chronicles.filter(isOfSale);
  const ended = documents.filter(({ status }) => status !== "COMPLETED" && status !== "RUNNING");
  const before = documents.flatMap(({ workflowId, runs }) => {
    const pressed = storm.buttons?.touched.get(workflowId);
    const bad = runs.slice(0, -1).filter((status) => status !== "COMPLETED" && !isEndOf(status, pressed));
    return bad.map((status) => `${workflowId}: a run of it ${status}`);
  });
  return [...ended.map(({ workflowId, status }) => `${workflowId}: ${status}`), ...before, ...storm.stuck];
}

/** Not a question of a caller, which is a run for each time that it is asked, and fails while the ledger is away. */
function isOfSale({ type }: Chronicle): boolean {
  return type === "sale";
}

/** Whether a run may have ended so by what was pressed on it. A reset terminates the run that it carries on. */
function isEndOf(status: string, pressed: ReadonlySet<Button> = new Set()): boolean {
  const by = (...buttons: Button[]): boolean => buttons.some((button) => pressed.has(button));
  if (status === "TERMINATED") return by("workflow terminate", "batch terminate", "workflow reset", "batch reset");
  // What an operator fails in place of its worker ends its run where the run can do nothing without it.
  return status === "FAILED" && by("activity fail", "activity complete");
}

/**
 * There is one workflow for each sale, and no other. A refund after its window is another run of it. A caller who asks
 * for it and hears nothing asks again, perhaps as that run has just ended: then one more run says what is known, and
 * does nothing.
 */
export function workflowsTooMany({ storm, chronicles }: Evidence): string[] {
  const isTooMany = ({ workflowId, runs, runsThatOnlyAnswered }: Chronicle): boolean =>
    storm.sales.get(workflowId)?.refund?.when === "after-its-window"
      ? runs.length - runsThatOnlyAnswered > 2
      : runs.length > 1;
  const several = chronicles
    .filter(isOfSale)
    .filter((chronicle) => isTooMany(chronicle) && !storm.buttons?.touched.has(chronicle.workflowId))
    .map(({ workflowId, runs }) => `${workflowId}: ${runs.length} runs`);
  const strange = chronicles.filter(({ type, workflowId }) => type === "sale" && !storm.sales.has(workflowId));
  return [...several, ...strange.map(({ workflowId }) => `${workflowId}: nobody started it`)];
}

/**
 * Temporal repeats a workflow task that raced with a message, and calls it failed. Any other failure is a defect of the
 * workflow.
 */
export function taskFailures({ chronicles }: Evidence): string[] {
  return chronicles.flatMap(({ workflowId, taskFailures: causes }) =>
    causes.filter((cause) => !isRace(cause)).map((cause) => `${workflowId}: ${cause}`),
  );
}

/** Whatever came at the same time when it was written down: a worker that takes a workflow over comes to the same. */
export function historiesThatDoNotReplay({ replays }: Evidence): string[] {
  if (replays.replayed === 0) return ["No history was replayed."];
  return [...replays.errors];
}

/** Also of a task that was under way as somebody reset or terminated its run. */
const BY_TEMPORAL = ["UNHANDLED_COMMAND", "RESET_WORKFLOW", "FORCE_CLOSE_COMMAND"];

export function isRace(cause: string): boolean {
  return BY_TEMPORAL.some((name) => cause.startsWith(name));
}

/** Invariant 6: a wait for the service's limits needs nobody. */
export function attentionsBy429({ storm }: Evidence): string[] {
  return (
    storm.attentions
      // A deadline that somebody gave a call by hand ends it, whatever it waits for.
      .filter(({ workflowId }) => !storm.buttons?.touched.get(workflowId)?.has("activity update-options"))
      .filter(({ message, evidence }) => evidence?.["status"] === 429 || /\b429\b/.test(message))
      .map(({ workflowId, code, message }) => `${workflowId}: ${code}: ${message}`)
  );
}

/** What people are called for in the plan. */
const EXPLAINED: ReadonlySet<string> = new Set([
  "stock-unknown",
  "document-unknown",
  "rejected",
  "item-needs-data",
  "authority-slow",
  "credentials",
]);

/** What neither the plan nor an answer of wrong types can bring about. */
export function attentionsUnexplained(evidence: Evidence): string[] {
  const wrongTypes = answeredWithWrongTypes(evidence);
  const brokenRefusal = evidence.books.callLog.some(
    ({ fault, status }) => fault === "wrong-types" && (status ?? 0) >= 400,
  );
  const explained = ({ workflowId, code, subject, message }: SeenAttention): boolean => {
    const isTouched = evidence.storm.buttons?.touched.has(workflowId) === true;
    // An activity that gave what no worker gives.
    if (code === "unexpected-answer" && isTouched) return true;
    // What looks for the goods' branch was ended by hand.
    if (code === "stock-refused" && message.startsWith("Not returned to stock: readBranch")) return isTouched;
    if (code === "stock-refused" && message.startsWith("Nothing was restocked"))
      return isEndedByHand(evidence.storm, workflowId);
    if (code === "stock-refused") return isAskedOfGoodsGivenBack(evidence, workflowId, subject ?? "");
    if (code === "stock-unreported") return wrongTypes.includes(subject ?? "");
    if (code === "unexpected-answer") return brokenRefusal && message.includes(WITHOUT_ENVELOPE);
    return EXPLAINED.has(code);
  };
  return evidence.storm.attentions
    .filter((attention) => !explained(attention))
    .map(({ workflowId, code, subject, message }) => `${workflowId}: ${code} ${subject ?? ""}: ${message}`);
}

/** Invariant 5: a forged callback reaches no workflow. */
export function forgedCallbacksHeard({ storm, chronicles }: Evidence): string[] {
  const accepted = (storm.randomFaults?.forged ?? []).filter((status) => status !== 404 && status !== null);
  const heard = chronicles.filter(
    ({ workflowId, signals }) =>
      storm.sales.get(workflowId)?.input.callback === "off" &&
      !storm.buttons?.touched.has(workflowId) &&
      signals.includes("callbackReceived"),
  );
  return [
    ...accepted.map((status) => `a forged callback was answered ${status}`),
    ...heard.map(({ workflowId }) => `${workflowId}: heard a callback that nobody could send`),
  ];
}

/** Invariant 8. */
export function secretsFound({ chronicles, logsWithSecrets }: Evidence): string[] {
  const leaks = chronicles.filter(({ secretsFound }) => secretsFound.length > 0);
  return [...leaks.map(({ workflowId }) => `${workflowId}: its history holds a secret`), ...logsWithSecrets];
}
