import { chooseBranch } from "./branch-choice.ts";
import { draftedRecord } from "./create-from-draft.ts";
import type { DocumentRecord } from "./document-record.ts";
import { priceLine, sumLines } from "./priced-lines.ts";
import { InstructionError, parseInstruction } from "./problems.ts";
import { elsewhereSaleSchema } from "./scenario-schema.ts";
import type { World } from "./world.ts";

/** Adds a sale that the API did not create, in the status it is given; it never goes through the scripted authority. */
export function issueElsewhere(world: World, raw: unknown): DocumentRecord {
  const asked = parseInstruction("sale", elsewhereSaleSchema, raw);
  const business = world.businesses.get(asked.businessId);
  if (business === undefined)
    throw new InstructionError("sale", [`sale.businessId: there is no business "${asked.businessId}"`]);
  if (asked.id !== undefined && world.documents.get(asked.id) !== undefined)
    throw new InstructionError("sale", [`sale.id: "${asked.id}" exists`]);
  const lines = asked.lines.map(({ itemId, quantity, unitPrice, description }, index) => {
    const item = world.catalogue.get(itemId);
    if (item === undefined || item.businessId !== business.id)
      throw new InstructionError("sale", [
        `sale.lines[${index}].itemId: business "${business.id}" has no item "${itemId}"`,
      ]);
    const line = { item, quantity, description, unitPrice: unitPrice ?? item.unitPrice };
    return priceLine(line, world.catalogue.taxRate(item), world.unitPriceIncludesTax);
  });
  const record = draftedRecord(
    {
      sale: {
        type: "sale",
        traderInvoiceNumber: asked.traderInvoiceNumber,
        saleDate: asked.saleDate,
        paymentTypeCode: asked.paymentTypeCode,
        customer: asked.customer,
        lines,
        totals: sumLines(lines),
        originalSaleId: null,
      },
      businessId: business.id,
      branchId: chooseBranch(business, "branchId", asked.branchId ?? null, "id").id,
      reason: null,
      callbackUrl: null,
    },
    { nowMs: world.nowMs(), id: asked.id, application: null, idempotencyKey: null },
  );
  world.documents.add(record);
  world.authority.force(record, asked.status, { error: asked.error });
  return record;
}
