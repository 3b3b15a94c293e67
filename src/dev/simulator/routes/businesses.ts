import { reachable } from "../business-access.ts";
import type { Operation } from "../operation.ts";
import type { World } from "../world.ts";

/** GET /v1/businesses, under the dialect's names. */
export function businessOperations(world: World): Operation[] {
  const names = world.dialect.businesses;
  return [
    {
      name: "listBusinesses",
      method: "GET",
      path: "/v1/businesses",
      scope: null,
      businessIdIn: "query",
      handle: (call) => ({
        status: 200,
        body: {
          data: {
            [names.list]: reachable(world.businesses, call.caller).map((business) => ({
              [names.id]: business.id,
              name: business.name,
              [names.branches]: business.branches.map((branch) => ({
                [names.branchId]: branch.id,
                [names.authorityId]: branch.authorityBhfId,
                name: branch.name ?? branch.id,
              })),
            })),
          },
        },
      }),
    },
  ];
}
