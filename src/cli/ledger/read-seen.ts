import { z } from "zod";

import type { SeenHead } from "../../ledger/index.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { parseJson } from "../parse-json.ts";
import { readText } from "../read-text.ts";

const head = z.object({ count: z.int().nonnegative(), hash: z.string().regex(/^[0-9a-f]{64}$/) });
const verified = z.object({
  chains: z.array(z.object({ connection: z.string(), businessId: z.string(), head: head.nullable() })),
});

/** The heads that an earlier `ledger verify --json` printed. @throws UsageError */
export async function readSeen(context: CliContext, path: string): Promise<SeenHead[]> {
  const parsed = verified.safeParse(parseJson(await readText(context, path), path));
  if (!parsed.success)
    throw new UsageError(`${path} is not what \`fiscalflow ledger verify --json\` printed: keep its output as it is.`);
  return parsed.data.chains.flatMap(({ connection, businessId, head: seen }) =>
    seen === null ? [] : [{ connection, businessId, ...seen }],
  );
}
