import { proxySinks, type Sinks, type WorkflowInterceptors } from "@temporalio/workflow";

import type { Stage } from "../../src/contract/index.ts";
import { SaleState } from "../../workflows/sale/state.ts";

export interface StageSinks extends Sinks {
  stages: { moved(from: Stage, to: Stage): void };
}

const { stages } = proxySinks<StageSinks>();

/** Bundled with the workflows, tells of every step between stages, also of those within one workflow task. */
export function interceptors(): WorkflowInterceptors {
  const { moveTo } = SaleState.prototype;
  SaleState.prototype.moveTo = function (to, waitingFor) {
    const from = this.stage;
    moveTo.call(this, to, waitingFor);
    if (from !== to) stages.moved(from, to);
  };
  return {};
}
