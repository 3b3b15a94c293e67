import { z } from "zod";
import type { Branch } from "../contract/calls.ts";
import { type CallOptions, callOperation, type ClientContext, type Result } from "./call-operation.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { field } from "./error-envelope.ts";
import { operation } from "./operations.ts";
import { bodyOf, type ReadBody } from "../http/read-body.ts";

export interface Business {
  id: string;
  /** In the API's order: the first one is its default. Empty where the dialect has no name for them. */
  branches: Branch[];
}

/** GET /v1/businesses: the businesses that the key can act for. Takes no businessId. */
export async function listBusinesses(context: ClientContext, options: CallOptions = {}): Promise<Result<Business[]>> {
  const op = operation("listBusinesses");
  return callOperation(context, op, { path: op.path }, readBusinesses(context.dialect.businesses), options);
}

const answerSchema = z.looseObject({ data: z.unknown() });
const recordsSchema = z.array(z.looseObject({}));
const idSchema = z.string().min(1);

/** The records' fields are not shown: the dialect names them. */
function readBusinesses(names: ComplianceDialect["businesses"]): ReadBody<Business[]> {
  const branchSchema = z.looseObject({}).transform((record, context): Branch => {
    const id = idSchema.safeParse(field(record, names.branchId));
    if (!id.success) return missing(context, names.branchId);
    const authorityId = names.authorityId === null ? undefined : field(record, names.authorityId);
    return typeof authorityId === "string" && authorityId !== ""
      ? { id: id.data, authorityBhfId: authorityId }
      : { id: id.data };
  });
  const businessSchema = z.looseObject({}).transform((record, context): Business => {
    const id = idSchema.safeParse(field(record, names.id));
    if (!id.success) return missing(context, names.id);
    const listed = names.branches === null ? [] : field(record, names.branches);
    const branches = z.array(branchSchema).safeParse(listed ?? []);
    if (branches.success) return { id: id.data, branches: branches.data };
    return missing(context, names.branches ?? "branches");
  });
  const schema = answerSchema
    .transform((body) => (names.list === null ? body.data : field(body.data, names.list)))
    .pipe(recordsSchema)
    .pipe(z.array(businessSchema));
  return bodyOf(schema, (businesses) => businesses);
}

function missing(context: z.RefinementCtx, name: string): never {
  context.addIssue({ code: "custom", path: [name], message: "missing, or not of its form (dialect, businesses)" });
  return z.NEVER;
}
