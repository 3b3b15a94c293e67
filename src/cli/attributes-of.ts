import type { WorkflowExecutionInfo } from "@temporalio/client";

/** Search attributes by name, as text. */
export function attributesOf({ typedSearchAttributes }: WorkflowExecutionInfo): ReadonlyMap<string, string> {
  return new Map(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, String(value)]));
}
