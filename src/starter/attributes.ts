import type { WorkflowExecutionInfo } from "@temporalio/client";

/** The search attributes of a listed workflow by name, as text. */
export function attributesOf({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, "typedSearchAttributes">): ReadonlyMap<string, string> {
  return new Map(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, String(value)]));
}
