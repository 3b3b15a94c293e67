import type { z } from "zod";

/** Two fields, or two inputs, under one name would overwrite each other in the request. For `superRefine`. */
export function distinctNames(names: Record<string, string | null>, context: z.RefinementCtx): void {
  const seen = new Map<string, string>();
  for (const [field, sentAs] of Object.entries(names)) {
    if (sentAs === null) continue;
    const other = seen.get(sentAs);
    if (other !== undefined) context.addIssue({ code: "custom", path: [field], message: `the same name as ${other}` });
    seen.set(sentAs, field);
  }
}
