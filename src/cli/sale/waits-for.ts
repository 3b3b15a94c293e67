import type { SaleState } from "../../starter/index.ts";

/** The words of a list, and of the page of one sale. @param attention the code that stands first */
export function waitsForOperator(attention: string): string {
  return `an operator: ${attention}`;
}

/** What a sale, or a credit note, waits for: an operator before all else, wherever an update can reach it. */
export function waitsForInWords({ source, closed, attentions, waitingFor }: WaitingState): string {
  const [first] = attentions;
  if (!first || closed || source === "ledger") return waitingFor;
  const operator = waitsForOperator(first.code);
  return waitingFor.startsWith("an operator") ? operator : `${operator}; and for ${waitingFor}`;
}

type WaitingState = Pick<SaleState, "source" | "closed" | "waitingFor"> & {
  attentions: readonly Pick<SaleState["attentions"][number], "code">[];
};
