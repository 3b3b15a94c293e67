import { expect } from "vitest";

import { SEARCH_ATTRIBUTES } from "../../src/contract/index.ts";
import { type DevServer, type DevServerOptions, startDevServer } from "../../src/servers/start-dev-server.ts";
import { namespaceOf } from "./namespace.ts";
import { PROMPT_DRAINS } from "./patience.ts";

/**
 * A Temporal server for one suite, with the suite's namespace: the one of all suites carries out neither Schedules nor
 * batch operations, keeps no versions, and loses nothing.
 */
export function startOwnServer({ namespaces = [], ...options }: Partial<DevServerOptions> = {}): Promise<DevServer> {
  return startDevServer({
    namespaces: [namespaceOf(expect.getState().testPath ?? ""), ...namespaces],
    searchAttributes: Object.values(SEARCH_ATTRIBUTES),
    dynamicConfig: PROMPT_DRAINS,
    ...options,
  });
}
