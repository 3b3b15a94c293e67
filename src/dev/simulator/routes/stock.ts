import { chooseBranch } from "../branch-choice.ts";
import { textIn, type Operation } from "../operation.ts";
import type { World } from "../world.ts";

const actions = ["ADD", "DEDUCT"] as const;

/** POST /v1/stock/adjustments. */
export function stockOperations(world: World): Operation[] {
  const names = world.dialect.stock;
  return [
    {
      name: "adjustStock",
      method: "POST",
      path: "/v1/stock/adjustments",
      scope: "stock:write",
      businessIdIn: names.businessIdIn,
      facts: (_params, body) => ({ itemId: textIn(body, "itemId"), referenceId: textIn(body, "referenceId") }),
      handle: (call) => {
        const business = call.business();
        const body = call.body();
        const itemId = body.text("itemId", 200);
        const action = body.oneOf("action", actions);
        const quantity = body.amount("quantity", "at least 0");
        const unitPrice = body.optionalAmount("unitPrice", "at least 0");
        const referenceId = body.optionalText("referenceId", 100);
        const branch = chooseBranch(business, names.branch, body.optionalText(names.branch, 200), names.branchBy);
        body.refuseOthers(world.settings.refuseUnknownFields);
        call.refuseOtherQuery();
        const item = world.catalogue.require(business.id, itemId);
        const movement = world.stock.move({
          atMs: world.nowMs(),
          application: call.caller.application.name,
          businessId: business.id,
          branchId: branch.id,
          itemId,
          action,
          quantity,
          unitPrice,
          referenceId,
        });
        const { stockIo, stockMaster } = item.fiscalReport;
        const report = { stockIo: { status: stockIo }, stockMaster: { status: stockMaster } };
        return {
          status: 201,
          body: {
            data: {
              itemId,
              branchId: branch.id,
              movementId: movement.movementId,
              quantityOnHand: movement.onHandAfter,
              ...(names.report === null ? {} : { [names.report]: report }),
            },
          },
        };
      },
    },
  ];
}
