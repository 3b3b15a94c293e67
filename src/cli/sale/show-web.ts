import type { CliContext } from "../context.ts";
import { openPage, pageOpener } from "../open-page.ts";
import { printNote, printResult } from "../output.ts";
import { configuredUi, workflowLink } from "../temporal-ui.ts";

/** Prints where Temporal's UI shows the workflow, and opens it where somebody sits at a terminal with a display. */
export async function showInBrowser(context: CliContext, workflowId: string, json: boolean | undefined): Promise<void> {
  const { env, stdout } = context;
  const link = workflowLink(configuredUi(env), workflowId);
  printResult(context, json, { workflowId, ...(link !== undefined && { link }) }, link ?? workflowId);
  if (link === undefined) {
    printNote(context, "Set TEMPORAL_UI_URL to the address of Temporal's UI, and this becomes a link.");
    return;
  }
  const opener = pageOpener({ platform: process.platform, env, isTerminal: stdout.isTTY === true });
  if (opener !== undefined) await openPage(opener, link);
}
