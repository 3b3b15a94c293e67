export { type CallClass, callingAs } from "./call-class.ts";
export { Brake } from "./brake.ts";
export { FleetCount } from "./fleet-count.ts";
export { Gate, type GateWatch } from "./gate.ts";
export { reserveFor } from "./reserve.ts";
export { budgetRules } from "./rules.ts";
