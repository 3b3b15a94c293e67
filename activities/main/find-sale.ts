import {
  asAnswered,
  bounded,
  type FindSaleResult,
  type KeptDocument,
  type MainActivities,
} from "../../src/contract/index.ts";
import { findSaleInputSchema, parseInput } from "../../src/contract/schema/index.ts";
import { isThrough, type KeptRecord, type KeptSale, type Ledger } from "../../src/ledger/index.ts";
import { failOnInvalidInput, failOnLedgerAway, lookUpProfileFor, requireBusiness, type Served } from "./prepare.ts";

const WHAT = "input of the look-up";

/**
 * Unlike the other activities of the ledger it is not tried again until the ledger is there: somebody waits for the
 * answer.
 */
export function createFindSale(connections: ReadonlyMap<string, Served>, ledger: Pick<Ledger, "documents">) {
  return {
    findSale: async ({ input }) => {
      const { profile, number } = failOnInvalidInput(() => {
        const wanted = parseInput(findSaleInputSchema, input, WHAT);
        const profile = lookUpProfileFor(connections, wanted, WHAT);
        requireBusiness(WHAT, wanted.businessId, profile.businessId);
        return { profile, number: wanted.traderInvoiceNumber };
      });
      const { connection, businessId } = profile;
      try {
        const kept = await ledger.documents.findSale({ connection, businessId }, number);
        if (kept) return resultOf(kept);
        const creditNoteOf = await ledger.documents.saleOfCreditNote({ connection, businessId }, number);
        return { found: null, ...(creditNoteOf !== undefined && { creditNoteOf }) };
      } catch (error) {
        throw failOnLedgerAway(error);
      }
    },
  } satisfies Partial<MainActivities>;
}

function resultOf(kept: KeptSale): FindSaleResult {
  const { creditNote } = kept;
  const isOver = isThrough(kept);
  return { found: { ...documentOf(kept), isThrough: isOver, creditNote: creditNote ? documentOf(creditNote) : null } };
}

/** Without what was asked for: it is the largest part, and the document says what became of it. */
function documentOf({ record, decisions, keptAtMs, writer }: KeptRecord): KeptDocument {
  const { type: _type, content: _asked, options: _options, ...known } = record;
  const { movementsPlanned: _planned, expectedTotal: _expected, ...kept } = known;
  const { document, movements, attentions } = kept;
  const listed = bounded({ movements, attentions, decisions });
  return { ...kept, document: asAnswered(document), ...listed, keptAtMs, keptBy: writer };
}
