"""Starts a sale and waits for its receipt, answers what needs an operator, and refunds the sale.

First: a worker, for example `npm run demo -- --keep` and the `export` lines that it prints. Then
  pip install -r requirements.txt && python sell_and_refund.py PY-1001
Run again, it finds the same sale and the same credit note. What each call takes, and what is refused:
https://github.com/fiscalflow/fiscalflow/blob/main/docs/clients.md
"""

import asyncio
import dataclasses
import os
import sys
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


async def refund(client: Client, number: str, credit_note: str) -> dict:
    """A sale that is closed is started again for it, by its number alone."""
    start = WithStartWorkflowOperation(
        "sale",
        {"businessId": BUSINESS, "traderInvoiceNumber": number},
        id=workflow_id("sale", number),
        task_queue=TASK_QUEUE,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    request = {"reason": "06", "traderInvoiceNumber": credit_note, "restock": True}
    return await client.execute_update_with_start_workflow(
        "refund", request, start_workflow_operation=start, result_type=dict
    )


async def answer_attentions(client: Client, number: str) -> None:
    """What an operator would do who has corrected what the message names."""
    handle = client.get_workflow_handle(workflow_id("sale", number))
    state = await handle.query("state", result_type=dict)
    for attention in state["attentions"]:
        print(f"{number} needs an operator: {attention['code']}, {attention['message']}")
        update, answer = (
            ("retry", {"code": attention["code"], "note": "corrected"})
            if "cancel" not in attention["resolvedBy"]
            else ("cancel", {"reason": "rung up by mistake"})
        )
        try:
            reply = await handle.execute_update(update, answer, result_type=dict)
            print(f"{update}: {reply['message']}")
        except WorkflowUpdateFailedError as error:
            # `error.cause.type` is "NotAllowed" where it was resolved meanwhile.
            print(f"{update}: {error.cause}")


async def main(number: str) -> None:
    client = await Client.connect(**ClientConfig.load_client_connect_config(), data_converter=data_converter())
    try:
        outcome = await sell(client, number, [{"sku": "UNGA-2KG", "quantity": 1, "unitPrice": 198}])
    except (WorkflowFailureError, WorkflowUpdateFailedError) as error:
        # `error.cause.type` is "InvalidInput", "Conflict" or "NotAllowed"; the message says what to do.
        sys.exit(f"{number}: {error.cause}")
    print(f"{number} is {outcome['stage']}: receipt {(outcome.get('receipt') or {}).get('cuInvoiceNo', 'not there yet')}")

    parked = await sell(client, f"{number}-X", [{"sku": "NO-SUCH", "quantity": 1, "unitPrice": 60}])
    if parked.get("attention"):
        await answer_attentions(client, f"{number}-X")

    outcome = await refund(client, number, f"CN-{number}")
    note = outcome.get("creditNote") or {}
    print(f"{number} is {outcome['stage']}: credit note {note.get('traderInvoiceNumber', 'not there yet')}")


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "PY-1001"))
# A program of a few seconds: a thread of the SDK that still answers while Python shuts down would abort it.
sys.stdout.flush()
os._exit(0)
