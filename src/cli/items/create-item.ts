import { z } from "zod";

import { classifyError } from "../../compliance/index.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printAnswer } from "../named-operations/print-answer.ts";
import { parseJson } from "../parse-json.ts";
import { readText } from "../read-text.ts";
import type { Scope } from "../sale/scope.ts";
import { withNamedOperation } from "../with-compliance.ts";

const itemFields = z.record(z.string(), z.unknown());

/** One request, never repeated: whether the service tells a second one from the first is not known. */
export async function createItem(context: CliContext, file: string, flags: Scope): Promise<void> {
  const name = file === "-" ? "Standard input" : file;
  const parsed = itemFields.safeParse(parseJson(await readText(context, file), name));
  if (!parsed.success) throw new UsageError(`${name}: expected a JSON object with the fields of one item.`);
  await withNamedOperation(context, flags, "createItem", async ({ client, dialect, call }) => {
    try {
      printAnswer(context, await client.callNamed("createItem", { fields: parsed.data }, call));
    } catch (error) {
      const { kind } = classifyError("createItem", error, dialect);
      if (kind !== "unknown" && kind !== "unexpected") throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandFailedError(
        `It is not known whether the item was created (${reason}). Look into the API's dashboard before you create it again.`,
        { cause: error },
      );
    }
  });
}
