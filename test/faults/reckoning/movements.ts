import { stockReferenceId, type StockMovement, sumOf } from "../../../src/contract/index.ts";
import type { Movement } from "../../../src/dev/simulator/index.ts";
import type { PlannedSale } from "../plan/planned-sale.ts";
import type { ActivityEnd } from "./chronicle.ts";
import { type Evidence, outcomeOf } from "./evidence.ts";
import { expectedOf, isAskedOfGoodsGivenBack } from "./expected.ts";
import { repeated } from "./repeated.ts";

/** Invariant 2: a movement is applied at most once. */
export function movementsTwice({ books }: Evidence): string[] {
  return repeated(books.movements, ({ referenceId }) => String(referenceId)).map(
    ({ key, entries }) => `${key} was applied ${entries.length} times`,
  );
}

/** Every sale took what it sold, once, and gave back what it had to, once; nothing else was moved. */
export function movementsThatDiffer(evidence: Evidence): string[] {
  const { storm, books } = evidence;
  const left = new Map(books.movements.map((movement) => [String(movement.referenceId), movement]));
  const found: string[] = [];
  for (const [workflowId, sale] of storm.sales) {
    const { number, refund } = sale;
    const { ends, refunded } = expectedOf(evidence, workflowId, sale);
    for (const [itemId, quantity] of sale.takes) {
      const sold = take(number, itemId, "sold");
      const undone = take(number, itemId, "undone");
      const restocked = refund && take(refund.request.traderInvoiceNumber, itemId, "restocked");
      const references = [
        stockReferenceId(number, itemId, "sold"),
        stockReferenceId(number, itemId, "undone"),
        stockReferenceId(refund?.request.traderInvoiceNumber ?? "", itemId, "restocked"),
      ];
      // What a person has said of one of them decides over the others too.
      if (references.some((reference) => isDecidedByHand(evidence, reference))) continue;
      const about = `${number} (${sale.shape}), ${itemId}`;
      if (ends === "cancelled") {
        // Of a sale that came to nothing the stock may have moved, or not; what was taken is given back.
        if ((sold === undefined) !== (undone === undefined))
          found.push(`${about}: was ${sold ? "" : "not "}taken, and ${undone ? "" : "not "}given back`);
      } else {
        if (!sold) found.push(`${about}: was not taken`);
        const isAsked = isAskedOfGoodsGivenBack(evidence, workflowId, stockReferenceId(number, itemId, "sold"));
        if (undone && !isAsked) found.push(`${about}: was given back although the sale stands`);
      }
      if (refund && (restocked !== undefined) !== (refunded && refund.request.restock === true))
        found.push(`${about}: was ${restocked ? "" : "not "}restocked`);
      for (const movement of [sold, undone, restocked])
        if (movement) found.push(...differences(movement, sale, quantity, movement === sold ? "DEDUCT" : "ADD"));
    }
  }
  return [...found, ...[...left.keys()].map((reference) => `${reference}: belongs to no sale`)];

  function take(number: string, itemId: string, purpose: "sold" | "undone" | "restocked"): Movement | undefined {
    const reference = stockReferenceId(number, itemId, purpose);
    const movement = left.get(reference);
    left.delete(reference);
    return movement;
  }
}

/** Invariant 3: what went back is at most what was taken, for each sale, item and branch. */
export function returnedMoreThanTaken(evidence: Evidence): string[] {
  const { storm, books } = evidence;
  return [...storm.sales.values()].flatMap(({ number, takes, refund }) => {
    const note = refund?.request.traderInvoiceNumber ?? "";
    return [...takes.keys()].flatMap((itemId) => {
      const of = (reference: string): Movement[] => books.movements.filter((one) => one.referenceId === reference);
      const sold = of(stockReferenceId(number, itemId, "sold"));
      if (isDecidedByHand(evidence, stockReferenceId(number, itemId, "sold"))) return [];
      const back = [
        ...of(stockReferenceId(number, itemId, "undone")),
        ...of(stockReferenceId(note, itemId, "restocked")),
      ];
      const sum = (movements: Movement[], branchId: string): number =>
        sumOf(movements.filter((one) => one.branchId === branchId).map(({ quantity }) => quantity));
      return [...new Set(back.map(({ branchId }) => branchId))]
        .filter((branchId) => sum(back, branchId) > sum(sold, branchId))
        .map((branchId) => {
          const [returned, taken] = [sum(back, branchId), sum(sold, branchId)];
          return `${number}, ${itemId}, ${branchId}: ${returned} went back, ${taken} were taken`;
        });
    });
  });
}

function differences(movement: Movement, { businessId }: PlannedSale, quantity: number, action: string): string[] {
  const said = `${movement.businessId} ${movement.action} ${movement.quantity}`;
  const wanted = `${businessId} ${action} ${quantity}`;
  return said === wanted ? [] : [`${movement.referenceId}: is ${said}, asked for was ${wanted}`];
}

/** What the workflows say of their movements is so. Of an answer with wrong types they know no better. */
export function movementsMisreported(evidence: Evidence): string[] {
  const applied = new Map(evidence.books.movements.map((movement) => [movement.referenceId, movement]));
  const wrongTypes = new Set(answeredWithWrongTypes(evidence));
  return evidence.chronicles.flatMap((chronicle) => {
    const reported = outcomeOf(chronicle)?.stockMovements ?? [];
    return reported
      .filter(({ referenceId }) => !wrongTypes.has(referenceId) && !isDecidedByHand(evidence, referenceId))
      .flatMap((movement) => misreports(movement, applied.get(movement.referenceId)));
  });
}

/** The movements that the service made, and answered with wrong types. */
export function answeredWithWrongTypes({ books }: Evidence): string[] {
  return books.callLog.flatMap(({ operation, fault, referenceId }) =>
    operation === "adjustStock" && fault === "wrong-types" && referenceId !== null ? [referenceId] : [],
  );
}

/** Somebody has completed it in its worker's place, with a result as a worker gives it. */
export function isDecidedByHand({ storm }: Evidence, referenceId: string): boolean {
  return storm.buttons?.decidedByHand.has(referenceId) ?? false;
}

function misreports(reported: StockMovement, kept: Movement | undefined): string[] {
  if (reported.state !== "applied" && reported.state !== "dropped")
    return [`${reported.referenceId}: ended ${reported.state}`];
  if ((reported.state === "applied") !== (kept !== undefined))
    return [`${reported.referenceId}: ended ${reported.state}, and was ${kept ? "" : "not "}applied`];
  if (reported.movementId !== undefined && reported.movementId !== kept?.movementId)
    return [`${reported.referenceId}: is ${reported.movementId}, in the books ${kept?.movementId}`];
  return [];
}

/**
 * Of a sale on which buttons were pressed: a run that was ended or reset reads no claim any more, and the
 * next one may ask once more what was answered to the one before.
 */
function isInTouchedRun({ chronicles, storm }: Evidence, referenceId: string): boolean {
  return chronicles.some(
    ({ workflowId, activities }) =>
      storm.buttons?.touched.has(workflowId) === true &&
      activities.some(({ input }) => referenceOf(input) === referenceId),
  );
}

interface MovementOf {
  workflowId: string;
  referenceId: string;
}

/**
 * The movements of which neither the answer nor the claim says what became of them. A call that ended without an answer
 * is looked up in its claim: only where that does not know either is it unknown.
 */
function unknownMovements(evidence: Evidence): MovementOf[] {
  return movementsWhere(
    evidence,
    ({ type, result }) => (type === "adjustStock" || type === "readMovement") && kindOf(result) === "unknown",
  );
}

/** The calls that ended without an answer, and whose claim nobody looked into. */
function claimsUnread(evidence: Evidence): string[] {
  const lost = movementsWhere(
    evidence,
    ({ type, end }) => type === "adjustStock" && (end === "timed-out" || end === "failed"),
  );
  const read = movementsWhere(evidence, ({ type, end }) => type === "readMovement" && end === "completed");
  const count = (list: readonly MovementOf[], reference: string): number =>
    list.filter(({ referenceId }) => referenceId === reference).length;
  return [...new Set(lost.map(({ referenceId }) => referenceId))]
    .filter((reference) => count(lost, reference) > count(read, reference) && !isInTouchedRun(evidence, reference))
    .map((reference) => `${reference}: its call was lost, and its claim was not read`);
}

/** The unknown movements whose outcome turned up in the claim after all. */
function turnedUp(evidence: Evidence): MovementOf[] {
  return movementsWhere(
    evidence,
    ({ type, end, result }) => type === "watchMovement" && end === "completed" && kindOf(result) !== "balance",
  );
}

function movementsWhere({ chronicles }: Evidence, is: (activity: ActivityEnd) => boolean): MovementOf[] {
  return chronicles.flatMap(({ workflowId, activities }) =>
    activities.flatMap((activity) => (is(activity) ? [{ workflowId, referenceId: referenceOf(activity.input) }] : [])),
  );
}

/**
 * Invariant 2: each unknown movement was shown to an operator and resolved by one, unless its outcome turned up by
 * itself.
 */
export function unknownMovementsUnseen(evidence: Evidence): string[] {
  const { storm, chronicles } = evidence;
  const unknown = unknownMovements(evidence);
  const seen = storm.attentions.filter(({ code }) => code === "stock-unknown");
  const found = turnedUp(evidence);
  const unseen = unknown.filter(
    (one) =>
      !seen.some(({ workflowId, subject }) => workflowId === one.workflowId && subject === one.referenceId) &&
      !found.some(({ referenceId }) => referenceId === one.referenceId),
  );
  const answers = chronicles.flatMap(({ updates }) =>
    updates.flatMap(({ name, input }) => (name === "resolveStock" ? [referenceOf(input)] : [])),
  );
  const count = (list: readonly string[], reference: string): number => list.filter((one) => one === reference).length;
  const references = unknown.map(({ referenceId }) => referenceId);
  const turned = found.map(({ referenceId }) => referenceId);
  const unequal = [...new Set([...references, ...answers])].filter((reference) => {
    const [times, said] = [count(references, reference), count(answers, reference)];
    // A watch that ends after an operator's decision repeats that word: it makes up for one that is missing, and is
    // none too many.
    if (isDecidedByHand(evidence, reference)) return false;
    if (isInTouchedRun(evidence, reference)) return times > 0 && said + count(turned, reference) === 0;
    return said > times || said + count(turned, reference) < times;
  });
  return [
    ...claimsUnread(evidence),
    ...unseen.map(({ referenceId }) => `${referenceId}: was unknown, and nobody saw it`),
    ...unequal.map(
      (reference) =>
        `${reference}: was unknown ${count(references, reference)} times, and resolved ${count(answers, reference)} times`,
    ),
  ];
}

export function countUnknownMovements(evidence: Evidence): number {
  return unknownMovements(evidence).length;
}

function kindOf(result: unknown): unknown {
  return typeof result === "object" && result !== null && "kind" in result ? result.kind : undefined;
}

function referenceOf(input: unknown): string {
  const reference = typeof input === "object" && input !== null && "referenceId" in input ? input.referenceId : "";
  return String(reference);
}
