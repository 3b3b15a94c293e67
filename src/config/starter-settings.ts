import type { Config } from "./config.ts";

/** What a starter has to know of the connections that the workers serve: its options of the same names. */
export function starterSettings({ compliance }: Pick<Config, "compliance">) {
  return {
    businesses: Object.fromEntries(compliance.map(({ name, businessId }) => [name, businessId])),
    connections: compliance.map(({ name }) => name),
    servedBusinesses: Object.fromEntries(compliance.map(({ name, servedBusinesses }) => [name, servedBusinesses])),
    inputChecks: Object.fromEntries(compliance.map(({ name, inputChecks }) => [name, inputChecks])),
  };
}
