import { ApiError, notFound } from "../api-error.ts";
import type { Operation } from "../operation.ts";
import type { World } from "../world.ts";
import { documentFacts, requireDocument } from "./sales.ts";

/** A page with the receipt's numbers: enough to be told apart from an error, not a real PDF. */
function receiptFile(cuInvoiceNo: string | null): string {
  return `%PDF-1.4\n% receipt ${cuInvoiceNo ?? ""}\n%%EOF\n`;
}

/** The first content type that a dialect's `accept` names. */
function servedAs(accept = ""): string {
  const types = accept.split(",").map((one) => one.split(";")[0]?.trim() ?? "");
  return types.find((type) => type !== "" && !type.includes("*")) ?? "application/pdf";
}

function accepts(header: string | undefined, contentType: string): boolean {
  const wanted = (header ?? "*/*").split(",").map((one) => one.split(";")[0]?.trim());
  return wanted.some((one) => one === contentType || one === "*/*" || one === `${contentType.split("/")[0] ?? ""}/*`);
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
        const contentType = servedAs(receiptDownload.accept);
        if (!accepts(call.headers.accept, contentType))
          throw new ApiError(406, "not_acceptable", `The receipt is served as ${contentType} only.`);
        return {
          status: 200,
          contentType,
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
