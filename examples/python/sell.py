"""Starts a sale, waits for its receipt, and prints the receipt's number. It refunds nothing.

First: a worker, for example `npm run demo -- --keep` and the `export` lines that it prints. Then
  pip install -r requirements.txt && python sell.py PY-1001
Run again, it finds the same sale. What each call takes, and what is refused:
https://github.com/fiscalflow/fiscalflow/blob/main/docs/clients.md
"""

import asyncio
import dataclasses
import os
import sys
from collections.abc import Coroutine
from urllib.parse import quote

import temporalio.converter

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from payload_codec import EncryptionCodec

CONNECTION = "default"
BUSINESS = "biz_demo"
TASK_QUEUE = "fiscalflow"


def data_converter() -> temporalio.converter.DataConverter:
    """Encrypts by the workers' keys, if they have any."""
    keys = os.environ.get("FISCALFLOW_PAYLOAD_KEYS")
    codec = EncryptionCodec(keys) if keys else None
    return dataclasses.replace(temporalio.converter.default(), payload_codec=codec)


def workflow_id(kind: str, last: str) -> str:
    return "/".join([kind, CONNECTION, quote(BUSINESS, safe="!'()*"), quote(last, safe="!'()*")])


async def sell(client: Client, number: str, lines: list[dict]) -> dict:
    """One number is one sale, however often it is started."""
    sale = {"businessId": BUSINESS, "traderInvoiceNumber": number, "lines": lines}
    start = WithStartWorkflowOperation(
        "sale",
        sale,
        id=workflow_id("sale", number),
        task_queue=TASK_QUEUE,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    try:
        return await client.execute_update_with_start_workflow(
            "outcome", {"waitSeconds": 20}, start_workflow_operation=start, result_type=dict
        )
    except WorkflowAlreadyStartedError:
        pass
    except RPCError as error:
        if error.status != RPCStatusCode.ALREADY_EXISTS:
            raise
    # It is closed: its result is the outcome.
    return await client.get_workflow_handle(workflow_id("sale", number), result_type=dict).result()


async def connect() -> Client:
    """To the Temporal that its own settings name."""
    return await Client.connect(**ClientConfig.load_client_connect_config(), data_converter=data_converter())


async def sell_flour(client: Client, number: str) -> None:
    try:
        outcome = await sell(client, number, [{"sku": "UNGA-2KG", "quantity": 1, "unitPrice": 198}])
    except (WorkflowFailureError, WorkflowUpdateFailedError) as error:
        # `error.cause.type` is "InvalidInput", "Conflict" or "NotAllowed"; the message says what to do.
        sys.exit(f"{number}: {error.cause}")
    print(f"{number} is {outcome['stage']}: receipt {(outcome.get('receipt') or {}).get('cuInvoiceNo', 'not there yet')}")


async def main(number: str) -> None:
    await sell_flour(await connect(), number)


def run(program: Coroutine) -> None:
    asyncio.run(program)
    # A program of a few seconds: a thread of the SDK that still answers while Python shuts down would abort it.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    run(main(sys.argv[1] if len(sys.argv) > 1 else "PY-1001"))
