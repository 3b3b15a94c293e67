import { COLUMNS, type TemporalUi, viewLines } from "../temporal-ui.ts";
import { type Finding, ok } from "./finding.ts";

/** The lists that an operator wants, to be opened or pasted. */
export function viewsFinding(ui: TemporalUi, nowMs = Date.now()): Finding {
  const more = viewLines(ui, nowMs).map((line) => `    ${line}`);
  const columns = `columns to pin there: ${COLUMNS.join(", ")}`;
  const finding = { ...ok("views in Temporal's UI", columns), more };
  const todo = "set TEMPORAL_UI_URL, and these filters become links";
  return ui.uiUrl === undefined ? { ...finding, todo } : finding;
}
