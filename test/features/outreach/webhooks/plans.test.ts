/** The sender asks often, and a million deliveries may wait: indexes must answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOfStatus } from '../../../../src/features/outreach/webhooks/deliveries/deliveries.ts'
import { listReplayed } from '../../../../src/features/outreach/webhooks/deliveries/replay-range.ts'
import { listAged } from '../../../../src/features/outreach/webhooks/deliveries/retention.ts'
import {
  deleteBatch,
  failBatch,
} from '../../../../src/features/outreach/webhooks/endpoints/disable.ts'
import {
  findNextDue,
  listFirst,
  listRetries,
} from '../../../../src/features/outreach/webhooks/sending/endpoint-tasks.ts'
import * as requests from '../../../../src/features/outreach/workflows/requests/load.ts'
import type { Statement } from '../../../../src/store/database.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { openTestCore } from '../../../core.ts'

const statements: Record<string, Statement<unknown>> = {
  ...{ listFirst, listRetries, findNextDue, failBatch, deleteBatch, listOfStatus, listReplayed },
  ...{ listAged, findNextRequest: requests.findNextDue },
  ...{ firstRequests: requests.listFirst, repeatedRequests: requests.listRetries },
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

for (const [name, statement] of Object.entries({ listFirst, firstRequests: requests.listFirst })) {
  test(`${name} seeks behind the rows that are to be cleared`, async (t) => {
    const { store } = await openTestCore(t)
    const text = statement.compiled().text.replaceAll('?', 'null')
    const plan = await store.read.all<{ detail: string }>(sql.raw(`explain query plan ${text}`))
    assert.match(plan[0]?.detail ?? '', /due_at=\? AND rowid>\?/)
  })
}
