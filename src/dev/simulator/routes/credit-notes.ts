import { ApiError } from "../api-error.ts";
import { requireCallbackUrl } from "../callback-url.ts";
import { createFromDraft, type DocumentDraft } from "../create-from-draft.ts";
import { negated } from "../decimal.ts";
import { textIn, type AdmittedCall, type Operation } from "../operation.ts";
import { reversedLine } from "../priced-lines.ts";
import type { Business } from "../scenario-schema.ts";
import { codes } from "../undocumented.ts";
import type { World } from "../world.ts";
import { requireDocument } from "./sales.ts";

const reasons = ["01", "02", "03", "04", "05", "06"] as const;

function draftCreditNote(world: World, call: AdmittedCall, business: Business): DocumentDraft {
  const body = call.body();
  const traderInvoiceNumber = body.text("traderInvoiceNumber", 50);
  const returnDate = body.day("returnDate");
  const saleId = body.text("saleId", 200);
  const reason = body.oneOf("reason", reasons);
  const callbackUrl = body.optionalText("callbackUrl", Number.POSITIVE_INFINITY);
  if (callbackUrl !== null) requireCallbackUrl("callbackUrl", callbackUrl, world.settings.allowLoopbackCallbacks);
  body.refuseOthers(world.settings.refuseUnknownFields);
  call.refuseOtherQuery();

  const original = requireDocument(world, business, saleId);
  const { sale } = original;
  if (sale.type !== "sale")
    throw new ApiError(422, codes.notCreditable, "A credit note cannot be credited", { sale: original.sale });
  const note = world.documents.liveCreditNote(saleId);
  if (note !== undefined)
    throw new ApiError(422, world.dialect.errors.alreadyCredited, "The sale is already credited", {
      creditNoteId: note.sale.id,
    });
  if (sale.status !== "completed")
    throw new ApiError(422, codes.saleNotCompleted, `A ${sale.status} sale cannot be credited`, {
      sale: original.sale,
    });
  return {
    sale: {
      type: "credit_note",
      traderInvoiceNumber,
      saleDate: returnDate,
      paymentTypeCode: sale.paymentTypeCode,
      customer: { ...sale.customer },
      lines: sale.lines.map(reversedLine),
      totals: {
        total: negated(sale.totals.total),
        taxableAmount: negated(sale.totals.taxableAmount),
        taxAmount: negated(sale.totals.taxAmount),
      },
      originalSaleId: saleId,
    },
    businessId: business.id,
    branchId: original.branchId,
    reason,
    callbackUrl,
  };
}

/** POST /v1/credit-notes. */
export function creditNoteOperations(world: World): Operation[] {
  return [
    {
      name: "creditNote",
      method: "POST",
      path: "/v1/credit-notes",
      scope: "sales:write",
      businessIdIn: world.dialect.creditNote.businessIdIn,
      facts: (_params, body) => ({ invoice: textIn(body, "traderInvoiceNumber") }),
      handle: (call) => {
        const business = call.business();
        return createFromDraft(world, call, { operation: "creditNote", ignoreIdempotencyKey: false }, () =>
          draftCreditNote(world, call, business),
        );
      },
    },
  ];
}
