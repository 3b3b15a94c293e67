import type { Books } from "../simulator/index.ts";
import { documentDifferences, strangeDocuments } from "./compare-documents.ts";
import { movementDifferences, stockDifferences } from "./compare-stock.ts";
import { type CallCounts, countCalls } from "./count-calls.ts";
import type { DemoPlan, Example } from "./demo-plan.ts";
import type { SaleProgress } from "./sale-progress.ts";

export interface CompareOptions {
  /** False where a worker was stopped meanwhile, which may cost a repeated call. Default: true. */
  readonly callCounts?: boolean;
}

/**
 * Holds what the workflows say, and what the plan wants, against the simulator's own books: every document, receipt and
 * stock movement is there once, and nothing else. Returns each difference in words; none means that they agree.
 */
export function compareWithBooks(
  plan: DemoPlan,
  sales: readonly SaleProgress[],
  books: Books,
  options: CompareOptions = {},
): string[] {
  const counts = countCalls(plan, books.callLog);
  const differences = plan.examples.flatMap((example) => {
    const sale = sales.find((candidate) => candidate.example.invoice === example.invoice);
    if (sale === undefined) return [`${example.invoice}: was not run`];
    const found = [
      ...stageDifferences(sale),
      ...documentDifferences(sale, books),
      ...(options.callCounts === false ? [] : callDifferences(example, counts)),
    ];
    return found.map((difference) => `${example.invoice}: ${difference}`);
  });
  return [
    ...differences,
    ...strangeDocuments(plan, books),
    ...movementDifferences(plan, books),
    ...stockDifferences(plan, books),
    ...counts.others.map((call) => `a call that belongs to no sale: ${call}`),
    ...books.keyReusedWithOtherBody.map(
      ({ idempotencyKey }) => `the Idempotency-Key ${idempotencyKey} was used with two bodies`,
    ),
  ];
}

function stageDifferences({ example, stage, problem, state }: SaleProgress): string[] {
  const { stage: wanted, attention } = example.expected;
  const found = stage === wanted ? [] : [`ended ${stage}, expected ${wanted}`];
  if (attention !== undefined && !state?.attentions.some(({ code }) => code === attention))
    found.push(`does not need an operator, expected ${attention}`);
  return problem === undefined ? found : [...found, problem];
}

function callDifferences({ invoice, expected }: Example, { byInvoice }: CallCounts): string[] {
  const { apiCalls } = expected;
  if (apiCalls === undefined) return [];
  const made = byInvoice.get(invoice) ?? 0;
  const { atLeast, atMost } = typeof apiCalls === "number" ? { atLeast: apiCalls, atMost: apiCalls } : apiCalls;
  if (made >= atLeast && made <= atMost) return [];
  return [`took ${made} API calls, expected ${atLeast === atMost ? atLeast : `${atLeast} to ${atMost}`}`];
}
