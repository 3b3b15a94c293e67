import type { Simulator } from "../../src/dev/simulator/index.ts";
import { itemOf } from "./businesses.ts";

/** Who reads a document. Its id says so, since a refused call is logged with no more than the document's id. */
export type Reader = "interactive" | "background" | "stranger";

export interface DocumentId {
  readonly lane: string;
  readonly reader: Reader;
  readonly businessId: string;
}

const MARK = "~";

/** Issues documents to be read: one read is one call, and none is in flight twice. */
export class Documents {
  readonly #simulator: Pick<Simulator, "issueSale">;
  #issued = 0;

  constructor(simulator: Pick<Simulator, "issueSale">) {
    this.#simulator = simulator;
  }

  issue({ lane, reader, businessId }: DocumentId): string {
    this.#issued += 1;
    const id = [lane, reader, businessId, this.#issued].join(MARK);
    this.#simulator.issueSale({
      id,
      businessId,
      traderInvoiceNumber: `B-${this.#issued}`,
      lines: [{ itemId: itemOf(businessId), quantity: 1 }],
    });
    return id;
  }
}

/** Undefined for a document that the benchmark's lanes did not issue. */
export function readDocumentId(id: string): DocumentId | undefined {
  const [lane, reader, businessId] = id.split(MARK);
  if (lane === undefined || businessId === undefined) return undefined;
  if (reader !== "interactive" && reader !== "background" && reader !== "stranger") return undefined;
  return { lane, reader, businessId };
}
