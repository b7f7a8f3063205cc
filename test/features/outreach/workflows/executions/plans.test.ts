/** Queries whose cost must not grow with the executions of a workflow, or with other workflows. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cancelManyActive } from '../../../../../src/features/outreach/workflows/executions/cancel-active.ts'
import {
  cancelAllExecutions,
  listOfDisabled,
  listUnsettledCancellations,
} from '../../../../../src/features/outreach/workflows/executions/cancel-all.ts'
import { selectNumbers } from '../../../../../src/features/outreach/workflows/executions/show-executions.ts'
import {
  retryExecution,
  startExecution,
} from '../../../../../src/features/outreach/workflows/executions/start.ts'
import {
  countByStatus,
  countByStep,
} from '../../../../../src/features/outreach/workflows/executions/stats.ts'
import {
  findNextFiring,
  listDueSchedules,
} from '../../../../../src/features/outreach/workflows/schedule/loop.ts'
import { compileSql, type Statement, StoreDb } from '../../../../../src/store/database.ts'
import { sql } from '../../../../../src/store/drizzle.ts'
import type { Tx } from '../../../../../src/store/write/transaction.ts'
import { openTestCore, type TestCore } from '../../../../core.ts'
import { viewExecution } from '../../../../lists.ts'

/** A row for every query that a verb may ask. */
const ROW = {
  ...{ number: 1, status: 'COMPLETED', startedAt: 2, starts: 1, cutOff: 0, stepId: 's', id: 'x' },
  ...{ count: 0, last: null, newest: 1 },
}

/** A transaction that does nothing, and the texts of what it was asked. */
function record(): { tx: Tx; texts: string[] } {
  const texts: string[] = []
  const db = new StoreDb((text, _, shape) => {
    texts.push(text)
    if (shape === 'run') return { changes: 1 }
    if (shape === 'record') return ROW
    return shape === 'records' ? [ROW] : shape === 'row' ? Array(30).fill('1') : []
  })
  const yieldToLoop = async () => undefined
  const more = { afterCommit: () => undefined, yieldToLoop, hasWritten: () => true }
  return { tx: Object.assign(db, more), texts }
}

/** The plans of SQLite, one text each. */
async function explain({ store }: TestCore, texts: readonly string[]): Promise<string[]> {
  const plans = texts.map((text) =>
    store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    ),
  )
  return (await Promise.all(plans)).map((rows) => rows.map(({ detail }) => detail).join('\n'))
}

const textOf = (statement: Statement<unknown>) => statement.compiled().text

const open = (t: TestContext) => openTestCore(t)

const LARGE = /SCAN (?:workflows|workflow_\w+|contacts|jobs|events)$/m

function storeOf({ store }: TestCore, tx: Tx): TestCore['store'] {
  const write = ((fn: (tx: Tx) => Promise<unknown>) => fn(tx)) as TestCore['store']['write']
  return { ...store, write, read: tx as never, scan: tx as never }
}

test('a page and the counts read the entries of one index, in their order', async (t) => {
  const core = await open(t)
  const range = { workflowId: 'w', cancelledThrough: 5, limit: 20, offset: 40 }
  const statuses = [undefined, 'WAITING', 'COMPLETED', 'CANCELLED'] as const
  const pages = statuses.map((status) => compileSql(selectNumbers({ ...range, status })).sql)
  for (const plan of await explain(core, [...pages, textOf(countByStatus)])) {
    assert.match(plan, /COVERING INDEX workflow_executions_status \(workflow_id=\?/)
    assert.doesNotMatch(plan, /TEMP B-TREE FOR ORDER|SCAN /)
  }
  const [plan = ''] = await explain(core, [textOf(countByStep)])
  assert.match(plan, /INDEX workflow_executions_place \(workflow_id=\?\)/)
  assert.doesNotMatch(plan, /TEMP B-TREE|SCAN /)
})

test('a start is a handful of look-ups', async (t) => {
  const core = await open(t)
  const { tx, texts } = record()
  const workflow = {
    ...{ id: 'w', projectId: 'p', name: 'W', triggerStepId: 's' },
    ...{ allowsReentry: true, cancelledThrough: 9, cancelReason: null },
  }
  const source = { id: 'e', seq: 1 }
  const start = { contactId: 'c', context: null, source, depth: 0, at: 3 }
  await startExecution(core, tx, { workflow, start })
  const plans = await explain(core, texts)
  for (const plan of plans) assert.doesNotMatch(plan, LARGE)
  assert.match(plans[0] ?? '', /workflow_executions_contact \(contact_id=\? AND workflow_id=\?\)/)
  assert.match(plans[1] ?? '', /workflow_executions_active \(workflow_id=\? AND contact_id=\?\)/)
  assert.ok(texts.some((text) => text.includes('started_at <=')))
})

test('cancelling, settling, retrying and showing read no table as a whole', async (t) => {
  const core = await open(t)
  const { tx, texts } = record()
  const workflow = { id: 'w', cancelReason: null }
  await cancelManyActive(tx, { workflow, through: 9, limit: 10, at: 1 })
  const deps = { ...core, store: storeOf(core, tx) }
  const key = { projectId: 'p', id: 'w', executionId: 'x' }
  await cancelAllExecutions(deps, key)
  await retryExecution(deps, key).catch(() => undefined)
  await viewExecution(deps, key)
  assert.ok(texts.length >= 12, `${texts.length}`)
  for (const plan of await explain(core, texts)) assert.doesNotMatch(plan, LARGE)
  assert.match((await explain(core, texts))[0] ?? '', /workflow_executions_status/)
})

test('what loops look for is found by partial indexes', async (t) => {
  const core = await open(t)
  const [unsettled = '', due = '', next = '', disabled = ''] = await explain(
    core,
    [listUnsettledCancellations, listDueSchedules, findNextFiring, listOfDisabled].map(textOf),
  )
  assert.match(unsettled, /workflows_cancelling/)
  assert.match(due, /workflows USING INDEX workflows_scheduled/)
  assert.match(due, /jobs USING (?:COVERING )?INDEX jobs_unique/)
  assert.match(next, /workflows_scheduled/)
  assert.match(disabled, /workflows USING .*workflows_newest \(project_id=\?\)/)
  assert.match(disabled, /workflow_executions_status \(workflow_id=\? AND status=\? AND rowid>\?\)/)
  for (const plan of [unsettled, due, next, disabled]) assert.doesNotMatch(plan, LARGE)
})
