import { nairobiDate } from "../../contract/index.ts";
import { operation } from "../../compliance/index.ts";
import { type ComplianceProbe, findPlace, NO_SUCH_ID, send } from "./compliance-probe.ts";
import type { SeenItem } from "./compliance-reads.ts";
import { probeSale } from "./probe-sale.ts";
import { probeStock } from "./probe-stock.ts";
import { documentOf, named, refusedOnly, untilEnded, verdictOf, type Write } from "./write.ts";

const REASON_REFUND = "06";
const COMPLETED = "completed";
const LOOKS = 20;
const LOOK_EVERY_SECONDS = 2;

/**
 * One sale, one credit note for it and one stock movement. Names are searched with an item that does not exist, which
 * no service can sell; whatever is not refused with 400 or 404 ends the search, since it may have made a document.
 */
export async function probeWrites(
  probe: ComplianceProbe,
  { item, number, onWrite }: { item: SeenItem; number: string; onWrite: (write: Write) => void },
): Promise<void> {
  const sale = await untilEnded("sale", number, () => probeSale(probe, item, number, onWrite));
  if (sale.outcome !== "made") onWrite(sale);
  const saleId = sale.outcome === "made" ? sale.id : undefined;
  const note = `${number}-CN`;
  onWrite(await untilEnded("credit note", note, () => probeCreditNote(probe, saleId, note)));
  const reference = `${number}-STOCK`;
  onWrite(await untilEnded("stock movement", reference, () => probeStock(probe, item, reference)));
}

async function probeCreditNote(probe: ComplianceProbe, saleId: string | undefined, number: string): Promise<Write> {
  const write = (outcome: Write["outcome"], detail: string): Write => ({
    what: "credit note",
    number,
    outcome,
    detail,
  });
  const { path } = operation("createCreditNote");
  const bodyFor = (id: string) => ({
    traderInvoiceNumber: number,
    returnDate: nairobiDate(Date.now()),
    saleId: id,
    reason: REASON_REFUND,
  });
  const { place } = await findPlace(
    probe,
    "creditNote.businessIdIn",
    async (at) => refusedOnly(await send(probe, "createCreditNote", { path, body: bodyFor(NO_SUCH_ID), place: at })),
    (answer) => verdictOf(answer) === "taken",
  );
  if (saleId === undefined) return write("not sent", "there is no sale to credit");
  if (!(await isCompleted(probe, saleId))) return write("not sent", "the sale is not completed yet");
  const body = bodyFor(saleId);
  const answer = await send(probe, "createCreditNote", { path, body, place, idempotencyKey: number });
  if (answer.kind === "unknown") return write("unknown", answer.message);
  if (answer.kind === "refused") return write("refused", `HTTP ${answer.status}${named(answer.words, body)}`);
  const { id } = documentOf(answer);
  return { what: "credit note", number, outcome: "made", ...(typeof id === "string" && { id }) };
}

/** Only an accepted sale can be credited. */
async function isCompleted(probe: ComplianceProbe, saleId: string): Promise<boolean> {
  const path = operation("getSale").path.replace("{id}", encodeURIComponent(saleId));
  for (let look = 1; look <= LOOKS; look++) {
    const answer = await send(probe, "getSale", { path });
    if (answer.kind === "refused") return false;
    const { status } = documentOf(answer);
    if (status === COMPLETED) return true;
    if (status === "failed" || status === "cancelled") return false;
    await probe.prober.wait(LOOK_EVERY_SECONDS);
  }
  return false;
}
