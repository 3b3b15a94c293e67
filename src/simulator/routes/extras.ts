import { notFound } from "../api-error.ts";
import type { Operation } from "../operation.ts";
import type { World } from "../world.ts";
import { documentFacts, requireDocument } from "./sales.ts";

/** A page with the receipt's numbers: enough to be told apart from an error, not a real PDF. */
function receiptFile(cuInvoiceNo: string | null): string {
  return `%PDF-1.4\n% receipt ${cuInvoiceNo ?? ""}\n%%EOF\n`;
}

/** The operations that the document only names: each exists when the dialect gives it a method and a path. */
export function extraOperations(world: World): Operation[] {
  const { receiptDownload, identity, lookups } = world.dialect;
  const operations: Operation[] = [];
  if (receiptDownload !== null)
    operations.push({
      name: "receiptDownload",
      method: receiptDownload.method,
      path: receiptDownload.path,
      scope: "sales:read",
      businessIdIn: "query",
      facts: (params) => documentFacts(world, params["id"]),
      handle: (call) => {
        const record = requireDocument(world, call.business(), call.params["id"] ?? "");
        call.touch(record);
        if (record.sale.receipt === null) throw notFound("Receipt");
        return {
          status: 200,
          contentType: "application/pdf",
          body: receiptFile(record.sale.receipt.cuInvoiceNo),
        };
      },
    });
  if (identity !== null)
    operations.push({
      name: "identity",
      method: identity.method,
      path: identity.path,
      scope: null,
      businessIdIn: "query",
      handle: ({ caller }) => ({
        status: 200,
        body: {
          data: {
            application: caller.application.name,
            environment: caller.environment,
            businessId: caller.boundTo,
            scopes: [...caller.scopes],
          },
        },
      }),
    });
  if (lookups !== null)
    operations.push({
      name: "lookups",
      method: lookups.method,
      path: lookups.path,
      scope: null,
      businessIdIn: "query",
      handle: () => ({ status: 200, body: { data: { codes: [] } } }),
    });
  return operations;
}
