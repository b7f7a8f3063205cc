/** The sender asks often, and a million deliveries may wait: indexes must answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  listAgedDeliveries,
  listOfStatus,
} from '../../../../src/features/outreach/webhooks/deliveries/deliveries.ts'
import { listReplayed } from '../../../../src/features/outreach/webhooks/deliveries/replay-range.ts'
import {
  deleteDeliveryBatch,
  failBatch,
} from '../../../../src/features/outreach/webhooks/endpoints/disable.ts'
import {
  findNextDueDelivery,
  listDeliveryRetries,
  listFirstDeliveries,
} from '../../../../src/features/outreach/webhooks/sending/endpoint-tasks.ts'
import * as requests from '../../../../src/features/outreach/workflows/requests/load.ts'
import type { Statement } from '../../../../src/store/database.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { openTestCore } from '../../../core.ts'

const statements: Record<string, Statement<unknown>> = {
  ...{
    listFirst: listFirstDeliveries,
    listRetries: listDeliveryRetries,
    findNextDue: findNextDueDelivery,
    failBatch,
    deleteBatch: deleteDeliveryBatch,
    listOfStatus,
    listReplayed,
  },
  ...{ listAged: listAgedDeliveries, findNextRequest: requests.findNextDueRequest },
  ...{ firstRequests: requests.listFirstRequests, repeatedRequests: requests.listRequestRetries },
}

for (const [name, statement] of Object.entries(statements)) {
  test(`${name} neither reads a whole table nor sorts one`, async (t) => {
    const { store } = await openTestCore(t)
    const text = statement.compiled().text.replaceAll('?', 'null')
    const plan = await store.read.all<{ detail: string }>(sql.raw(`explain query plan ${text}`))
    assert.ok(plan.length > 0)
    for (const { detail } of plan) {
      assert.doesNotMatch(detail, /^SCAN (?!\(|CONSTANT)/, detail)
      if (name !== 'listReplayed') assert.doesNotMatch(detail, /TEMP B-TREE/, detail)
    }
  })
}

for (const [name, statement] of Object.entries({
  listFirst: listFirstDeliveries,
  firstRequests: requests.listFirstRequests,
})) {
  test(`${name} seeks behind the rows that are to be cleared`, async (t) => {
    const { store } = await openTestCore(t)
    const text = statement.compiled().text.replaceAll('?', 'null')
    const plan = await store.read.all<{ detail: string }>(sql.raw(`explain query plan ${text}`))
    assert.match(plan[0]?.detail ?? '', /due_at=\? AND rowid>\?/)
  })
}
