import type { DemoPlan, Example } from "./demo-plan.ts";

/** A credit note's number has at most 50 characters (Fiscal Compliance API, "Limits"), and so has a sale's. */
const MAX_NUMBER_LENGTH = 50;

/**
 * The same plan under other numbers. A server that outlives the demo remembers its sales for ever: there a number is
 * used once.
 */
export function renumber(plan: DemoPlan, suffix: string): DemoPlan {
  const other = (number: string): string => `${number.slice(0, MAX_NUMBER_LENGTH - suffix.length - 1)}-${suffix}`;
  const { authority, sales } = plan.scenario;
  const documents = Object.fromEntries(
    Object.entries(authority.documents).map(([number, steps]) => [other(number), steps]),
  );
  return {
    ...plan,
    examples: plan.examples.map((example) => renumbered(example, other)),
    faults: plan.faults.map((fault) => ({ ...fault, match: fault.match && renumberedMatch(fault.match, other) })),
    scenario: {
      ...plan.scenario,
      authority: { ...authority, documents },
      sales: sales.map((sale) => ({ ...sale, traderInvoiceNumber: other(sale.traderInvoiceNumber) })),
    },
  };
}

type Match = NonNullable<DemoPlan["faults"][number]["match"]>;

function renumberedMatch(match: Match, other: (number: string) => string): Match {
  const { invoice, referenceId } = match;
  // A movement's reference begins with the number of its document.
  const [number = "", ...rest] = referenceId?.split("/") ?? [];
  return {
    ...match,
    ...(invoice !== undefined && { invoice: other(invoice) }),
    ...(referenceId !== undefined && { referenceId: [other(number), ...rest].join("/") }),
  };
}

function renumbered(example: Example, other: (number: string) => string): Example {
  const invoice = other(example.invoice);
  const { refund } = example;
  return {
    ...example,
    invoice,
    input: { ...example.input, traderInvoiceNumber: invoice },
    refund: refund && { ...refund, traderInvoiceNumber: other(refund.traderInvoiceNumber) },
  };
}
