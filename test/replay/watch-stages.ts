import { proxySinks, type Sinks, type WorkflowInterceptors } from "@temporalio/workflow";

import type { Stage } from "../../src/contract/index.ts";
import { SaleState } from "../../workflows/sale/state.ts";

export interface StageSinks extends Sinks {
  stages: { moved(from: Stage, to: Stage): void };
}

type Step = Parameters<SaleState["moveTo"]>;

const { stages } = proxySinks<StageSinks>();

/** Bundled with the workflows, tells of every step between stages, also of those within one workflow task. */
export function interceptors(): WorkflowInterceptors {
  const moveTo = Reflect.get(SaleState.prototype, "moveTo") as (this: SaleState, ...step: Step) => void;
  SaleState.prototype.moveTo = function (...step) {
    const from = this.stage;
    moveTo.apply(this, step);
    if (from !== this.stage) stages.moved(from, this.stage);
  };
  return {};
}
