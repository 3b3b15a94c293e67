export { startSimulator, type Simulator } from "./simulator.ts";
export type { SimulatorOptions, SettingsPatch } from "./options.ts";
export type { AuthorityStep, DocumentStatus } from "./authority-step.ts";
export type { Books, DocumentBooks } from "./books.ts";
export type { CallEntry } from "./call-log.ts";
export type { Fault } from "./fault-schema.ts";
export type { Movement } from "./stock.ts";
export { InstructionError } from "./problems.ts";
export { accountingScenarioSchema } from "./accounting/scenario.ts";
export { scenarioSchema } from "./scenario-schema.ts";
export type {
  ElsewhereSale,
  ItemPatch,
  KeyPatch,
  NewBusiness,
  NewItem,
  NewPurchase,
  PurchasePatch,
  ScenarioInput,
} from "./scenario-schema.ts";
export { builtInScenario } from "./built-in-scenario.ts";
export type {
  AccountingCall,
  AccountingControls,
  BillPaymentBody,
  BookedBatch,
  BookedPayment,
  HiddenFacts,
  SentWebhook,
  WebhookToSend,
} from "./accounting/accounting-controls.ts";
