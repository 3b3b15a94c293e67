import type { KeepLinesRequest } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { answerOf, isRefusal } from "../run/answered.ts";
import { park } from "../run/park.ts";
import { Refusals } from "../run/refusals.ts";

/**
 * Has the lines of a document kept that are too many for a payload: an activity reads them from the service into the ledger.
 * @returns false where a person has given them up
 */
export async function keepLines(
  { run, calls, target }: Work,
  of: Pick<KeepLinesRequest, "type" | "number" | "saleId">,
): Promise<boolean> {
  const refusals = new Refusals(run);
  for (;;) {
    const result = await answerOf(calls.background.read.keepLines({ ...target, ...of }));
    if (isRefusal(result) && result.attention === "credentials") {
      await refusals.parkAbout(result);
      continue;
    }
    refusals.over();
    if (!isRefusal(result)) return true;
    const message = `The ledger keeps the document ${of.saleId} without its lines: ${result.message}`;
    const verdict = await park(run, { code: "unexpected-answer", subject: `lines of ${of.saleId}`, message });
    if (verdict === "acknowledged") return false;
  }
}
