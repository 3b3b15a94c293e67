import { type Attention, holdsUpDocument } from "./attention.ts";
import type { StockMovement } from "./stock-movement.ts";

/** The words of a list, and of the page of one sale. @param attention the code that stands first */
export function waitsForOperator(attention: string): string {
  return `an operator: ${attention}`;
}

export interface Waiting {
  /** In words: what happens next in the main flow, and when. */
  waitingFor: string;
  /** The most pressing first. */
  attentions: readonly Pick<Attention, "code" | "subject">[];
  stockMovements: readonly Pick<StockMovement, "referenceId" | "state">[];
}

/** What an open sale or credit note waits for: an operator before all else, and all that goes on beside. */
export function everythingWaitedFor({ waitingFor, attentions, stockMovements }: Waiting): string {
  const [first] = attentions;
  const sending = stockMovements.filter(({ state }) => state === "sending").length;
  const answers = sending === 1 ? "the answer to a stock movement" : `the answers to ${sending} stock movements`;
  // The call whose answer the main flow waits for is not made while the key is refused.
  const isRefused = first?.code === "credentials" && holdsUpDocument(first, stockMovements);
  const isSaid = isRefused || (first && waitingFor.startsWith("an operator"));
  const parts = [
    ...(first ? [waitsForOperator(first.code)] : []),
    ...(sending === 0 || /stock/.test(waitingFor) ? [] : [answers]),
    ...(isSaid || waitingFor === "nothing" ? [] : [waitingFor]),
  ];
  return parts.length === 0 ? waitingFor : parts.join("; and for ");
}
