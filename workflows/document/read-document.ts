import type { SaleDocument } from "../../src/contract/index.ts";
import { answered } from "../run/answered.ts";
import type { Refusals } from "../run/refusals.ts";
import type { Work } from "./work.ts";

/** Reads the document now, however long it takes to get an answer. */
export async function readDocument(work: Work, saleId: string, refusals?: Refusals): Promise<SaleDocument> {
  const { calls, run, target } = work;
  const read = await answered(run, () => calls.read.readDocument({ ...target, saleId }), refusals);
  return read.document;
}
