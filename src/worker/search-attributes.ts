import { type ConnectionLike, isGrpcServiceError } from "@temporalio/client";

import { SEARCH_ATTRIBUTES } from "../contract/index.ts";

/** `IndexedValueType` of Temporal's API. */
const TYPES = ["none", "Text", "Keyword", "Int", "Double", "Bool", "Datetime", "KeywordList"];
export const KEYWORD = 2;

export interface SearchAttributeStates {
  ready: string[];
  missing: string[];
  /** There under our name, as something else. */
  wrongType: { name: string; type: string }[];
}

const INVALID_ARGUMENT = 3;
/** Not every server lets everybody look at its attributes (PERMISSION_DENIED, UNIMPLEMENTED). */
const NOT_FOR_US = [7, 12];

/** Which of the product's search attributes a namespace has. */
export async function readSearchAttributes(
  connection: ConnectionLike,
  namespace: string,
): Promise<SearchAttributeStates> {
  let known: Record<string, unknown>;
  try {
    known = { ...(await connection.operatorService.listSearchAttributes({ namespace })).customAttributes };
  } catch (error) {
    if (!isGrpcServiceError(error) || !NOT_FOR_US.includes(Number(error.code))) throw error;
    return readByQuery(connection, namespace);
  }
  const states: SearchAttributeStates = { ready: [], missing: [], wrongType: [] };
  for (const name of Object.values(SEARCH_ATTRIBUTES)) {
    if (!Object.hasOwn(known, name)) states.missing.push(name);
    else if (Number(known[name]) === KEYWORD) states.ready.push(name);
    else states.wrongType.push({ name, type: TYPES[Number(known[name])] ?? `type ${String(known[name])}` });
  }
  return states;
}

/** Whether every search attribute can be used in a query already: after registration that takes a moment. */
export async function searchAttributesUsable(connection: ConnectionLike, namespace: string): Promise<boolean> {
  return (await readByQuery(connection, namespace)).missing.length === 0;
}

async function readByQuery(connection: ConnectionLike, namespace: string): Promise<SearchAttributeStates> {
  const states: SearchAttributeStates = { ready: [], missing: [], wrongType: [] };
  for (const name of Object.values(SEARCH_ATTRIBUTES)) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query: `${name} = "-"` });
      states.ready.push(name);
    } catch (error) {
      if (!isGrpcServiceError(error) || Number(error.code) !== INVALID_ARGUMENT) throw error;
      states.missing.push(name);
    }
  }
  return states;
}
