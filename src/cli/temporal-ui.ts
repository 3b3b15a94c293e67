import { loadConfig, loadTemporalConnection } from "../config/index.ts";
import { nairobiDate, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from "../contract/index.ts";
import { allOf, NEEDS_AN_OPERATOR, RUNNING } from "./sale/visibility-query.ts";

/** Where Temporal's UI shows a namespace. */
export interface TemporalUi {
  /** Without a slash at its end; undefined where nobody knows it. */
  readonly uiUrl: string | undefined;
  readonly namespace: string;
}

/** The UI that the configuration names. @throws ConfigError */
export function configuredUi(env: NodeJS.ProcessEnv): TemporalUi {
  const { uiUrl } = loadConfig({ env }).temporal;
  return { uiUrl: uiUrl && uiAddress(uiUrl), namespace: loadTemporalConnection({ env }).namespace };
}

export function uiAddress(url: URL): string {
  return url.href.replace(/\/+$/, "");
}

/** Where a workflow is shown; the UI wants its id as one segment of the path. */
export function workflowLink(ui: TemporalUi, workflowId: string): string | undefined {
  const workflows = workflowsAddress(ui);
  return workflows && `${workflows}/${encodeURIComponent(workflowId)}`;
}

/** Where the workflows that a list filter finds are shown. */
export function listLink(ui: TemporalUi, query: string): string | undefined {
  const workflows = workflowsAddress(ui);
  return workflows && `${workflows}?query=${encodeURIComponent(query)}`;
}

function workflowsAddress({ uiUrl, namespace }: TemporalUi): string | undefined {
  return uiUrl === undefined ? undefined : `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows`;
}

/** The columns that tell most in the UI's list, in this order. */
export const COLUMNS: readonly string[] = [
  SEARCH_ATTRIBUTES.invoice,
  SEARCH_ATTRIBUTES.stage,
  SEARCH_ATTRIBUTES.attention,
];

/**
 * The list filters that an operator keeps at hand. Temporal's language knows no "today": the day is that of `nowMs`.
 */
export function operatorViews(nowMs: number): readonly { name: string; query: string }[] {
  return [
    { name: "needs an operator", query: NEEDS_AN_OPERATOR },
    {
      name: "waits for the authority",
      query: allOf([`${SEARCH_ATTRIBUTES.stage} = "awaiting-authority"`, RUNNING]),
    },
    {
      name: "today's sales",
      query: allOf([`WorkflowType = "${WORKFLOW_TYPES.sale}"`, `StartTime >= "${nairobiDate(nowMs)}T00:00:00+03:00"`]),
    },
  ];
}

/** Each view on a line: its link, or its filter where nobody knows the UI's address. */
export function viewLines(ui: TemporalUi, nowMs: number): string[] {
  const views = operatorViews(nowMs);
  const width = Math.max(...views.map(({ name }) => name.length));
  return views.map(({ name, query }) => `${name.padEnd(width)}  ${listLink(ui, query) ?? query}`);
}
