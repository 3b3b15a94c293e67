import { builtInScenario } from "./built-in-scenario.ts";
import { InstructionError, parseInstruction } from "./problems.ts";
import { scenarioSchema, type Scenario } from "./scenario-schema.ts";

function withBuiltIns(raw: unknown): unknown {
  if (raw === undefined) return builtInScenario;
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return raw;
  const items = "businesses" in raw ? [] : builtInScenario.items;
  return { ...builtInScenario, items, ...raw };
}

function duplicates(where: string, ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.flatMap((id, index) => {
    if (seen.has(id)) return [`scenario.${where}[${index}]: "${id}" occurs twice`];
    seen.add(id);
    return [];
  });
}

/** What a schema cannot see: names that lead nowhere, and names given twice. */
function crossReferenceProblems(scenario: Scenario): string[] {
  const problems: string[] = [];
  const businesses = new Map(scenario.businesses.map((business) => [business.id, business]));
  const itemBusiness = new Map(scenario.items.map((item) => [item.id, item.businessId]));

  const checkBusiness = (at: string, businessId: string): void => {
    if (!businesses.has(businessId)) problems.push(`scenario.${at}.businessId: there is no business "${businessId}"`);
  };
  const checkBranch = (at: string, businessId: string, branchId: string): void => {
    const business = businesses.get(businessId);
    if (business !== undefined && !business.branches.some((branch) => branch.id === branchId))
      problems.push(`scenario.${at}: business "${businessId}" has no branch "${branchId}"`);
  };

  for (const [a, application] of scenario.applications.entries())
    for (const [k, key] of application.keys.entries())
      if (key.businessId !== null) checkBusiness(`applications[${a}].keys[${k}]`, key.businessId);
  for (const [i, item] of scenario.items.entries()) {
    checkBusiness(`items[${i}]`, item.businessId);
    if (!Object.hasOwn(scenario.taxRates, item.taxTypeCode))
      problems.push(`scenario.items[${i}].taxTypeCode: scenario.taxRates has no rate for "${item.taxTypeCode}"`);
    for (const branchId of Object.keys(item.onHand)) checkBranch(`items[${i}].onHand`, item.businessId, branchId);
  }
  for (const [s, sale] of scenario.sales.entries()) {
    checkBusiness(`sales[${s}]`, sale.businessId);
    if (sale.branchId !== undefined) checkBranch(`sales[${s}].branchId`, sale.businessId, sale.branchId);
    for (const [l, line] of sale.lines.entries())
      if (itemBusiness.get(line.itemId) !== sale.businessId)
        problems.push(
          `scenario.sales[${s}].lines[${l}].itemId: business "${sale.businessId}" has no item "${line.itemId}"`,
        );
  }
  for (const [p, purchase] of scenario.purchases.entries()) checkBusiness(`purchases[${p}]`, purchase.businessId);

  return [
    ...problems,
    ...duplicates(
      "businesses",
      scenario.businesses.map(({ id }) => id),
    ),
    ...duplicates(
      "items",
      scenario.items.map(({ id }) => id),
    ),
    ...duplicates(
      "purchases",
      scenario.purchases.map(({ id }) => id),
    ),
    ...duplicates(
      "applications",
      scenario.applications.map(({ name }) => name),
    ),
    ...duplicates(
      "applications.keys",
      scenario.applications.flatMap(({ keys }) => keys.map(({ key }) => key)),
    ),
  ];
}

/** A scenario with the built-in sections filled in, or an InstructionError that names every problem with its path. */
export function parseScenario(raw: unknown): Scenario {
  const scenario = parseInstruction("scenario", scenarioSchema, withBuiltIns(raw));
  const problems = crossReferenceProblems(scenario);
  if (problems.length > 0) throw new InstructionError("scenario", problems);
  return scenario;
}
