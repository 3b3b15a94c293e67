import { redactDeep, type Result } from "../../compliance/index.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";

/** An answer whose shape nobody knows, without the key or the URLs that a service may echo. */
export function printAnswer(context: CliContext, { data }: Result<unknown>): void {
  printResult(context, true, redactDeep(data), "");
}
