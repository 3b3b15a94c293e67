import { z } from "zod";

const inFlightStatuses = ["pending", "ready_to_submit", "retrying"] as const;
export const documentStatuses = [...inFlightStatuses, "completed", "failed", "cancelled"] as const;
export type DocumentStatus = (typeof documentStatuses)[number];

const afterMs = z.number().int().min(0);
const status = z.enum(inFlightStatuses);

/**
 * What the scripted authority does with one submission: the creation is the first, each retry the next; the last step
 * of a script repeats. `afterMs` means 202 first and the decision later; `status` is the in-flight status until then
 * (default `pending`).
 */
export const authorityStepSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("accept"), afterMs: afterMs.optional(), status: status.optional() }),
  z
    .strictObject({
      do: z.literal("reject"),
      reason: z.string().min(1),
      afterMs: afterMs.optional(),
      status: status.optional(),
      // The 422 names no document and none is kept.
      withoutDocument: z.boolean().optional(),
    })
    .refine((step) => !(step.withoutDocument === true && step.afterMs !== undefined), {
      path: ["withoutDocument"],
      message: "cannot go with afterMs: a document that answers later exists",
    }),
  // Stays in flight until the script changes.
  z.strictObject({ do: z.literal("down"), status: status.optional() }),
  z.strictObject({ do: z.literal("cancel"), afterMs: afterMs.optional(), status: status.optional() }),
  // The call fails with this status and nothing is filed.
  z.strictObject({
    do: z.literal("answer"),
    status: z.number().int().min(400).max(599),
    code: z.string().optional(),
    message: z.string().optional(),
  }),
]);

export type AuthorityStep = z.infer<typeof authorityStepSchema>;

export const authorityScriptSchema = z.array(authorityStepSchema).min(1);
