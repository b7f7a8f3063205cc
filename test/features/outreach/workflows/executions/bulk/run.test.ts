import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BULK_START_KIND,
  findBulkStart,
  runBulkStart,
  startMany,
} from '../../../../../../src/features/outreach/workflows/executions/bulk.ts'
import {
  createSegment,
  deleteSegment,
} from '../../../../../../src/features/people/segments/edit-segment.ts'
import { updateProject } from '../../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../../src/store/ids.ts'
import { contacts } from '../../../../../../src/store/schema/contacts.ts'
import { workflows } from '../../../../../../src/store/schema/workflows.ts'
import { FinalFailure } from '../../../../../../src/work/jobs/run.ts'
import { claimJob } from '../../../../../work/jobs/running.ts'
import { addContacts } from '../../../../people/contacts/add-contacts.ts'
import { addExecution, addWorkflow } from '../../add-workflow.ts'
import { executionsOf, figuresOf, openStage, type Stage } from '../stage.ts'

const condition = (value: string) => ({
  logic: 'AND' as const,
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }],
})

/** Two thirds of the contacts are in the segment. */
async function openBulk(t: Parameters<typeof openStage>[0], size = 9) {
  const stage = await openStage(t, { people: 0, allowsReentry: true })
  const { core, key } = stage
  const given = Array.from({ length: size }, (_, index) => ({
    email: `p${index}@people.test`,
    data: { plan: index % 3 === 0 ? 'free' : 'pro' },
  }))
  const people = await addContacts(core, key.projectId, given)
  const segment = await createSegment(core, {
    ...{ projectId: key.projectId, name: 'Pro', type: 'DYNAMIC', condition: condition('pro') },
  })
  return { ...stage, people, segment }
}

const order = ({ core, key }: Stage, selection: { segmentId: string } | { filter: unknown }) =>
  startMany(core, { ...key, selection, context: { from: 'bulk' } })

const disable = ({ core, key }: Stage) =>
  core.store.write(
    async (tx) =>
      void (await tx.update(workflows).set({ isEnabled: false }).where(eq(workflows.id, key.id))),
  )

test('the members of a segment are started, and those held back are counted', async (t) => {
  const stage = await openBulk(t)
  const { core, key, people, segment } = stage
  const active = { projectId: key.projectId, workflowId: key.id, contactId: people[1] ?? '' }
  await addExecution(core, active)
  const jobId = await order(stage, { segmentId: segment.id })
  const result = await runBulkStart(core, await claimJob(core, BULK_START_KIND))
  assert.deepEqual(result, {
    ...{ totalRequested: 6, startedCount: 5, heldBackCount: 1 },
    ...{ tooManyStartsCount: 0, failureCount: 0 },
  })
  const [, ...started] = await executionsOf(stage)
  const expected = people.filter((_, index) => index % 3 !== 0 && index !== 1)
  assert.deepEqual(
    started.map(({ contactId }) => contactId),
    expected,
  )
  assert.deepEqual(started[0]?.context, { from: 'bulk' })
  assert.deepEqual(await figuresOf(stage), { heldBack: 1 })
  const status = await findBulkStart(core, { ...key, jobId })
  assert.equal(status.id, jobId)
})

test('a filter selects who is started', async (t) => {
  const stage = await openBulk(t)
  await order(stage, { filter: condition('free') })
  const result = await runBulkStart(stage.core, await claimJob(stage.core, BULK_START_KIND))
  assert.equal(result.startedCount, 3)
  assert.equal((await executionsOf(stage)).length, 3)
})

test('a job that was interrupted goes on and starts nobody twice', async (t) => {
  const stage = await openBulk(t, 60)
  const { core, segment } = stage
  await order(stage, { segmentId: segment.id })
  const first = await claimJob(core, BULK_START_KIND, 1)
  let batches = 0
  const deps = {
    ...core,
    store: {
      ...core.store,
      write: ((fn, options) => {
        batches += 1
        if (batches === 2) first.abort.abort()
        return core.store.write(fn, options)
      }) as typeof core.store.write,
    },
  }
  await assert.rejects(runBulkStart(deps, first))
  const done = (await executionsOf(stage)).length
  assert.ok(done > 0 && done < 40, `${done}`)
  // A contact that is new since the job began is not meant; one that is gone is counted.
  await addContacts(core, stage.key.projectId, [{ email: 'new@x.test', data: { plan: 'pro' } }])
  core.clock.now += 1_000
  const result = await runBulkStart(core, await claimJob(core, BULK_START_KIND))
  assert.deepEqual([result.startedCount, result.heldBackCount], [40, 0])
  const rows = await executionsOf(stage)
  assert.equal(new Set(rows.map(({ contactId }) => contactId)).size, 40)
  assert.equal(rows.length, 40)
})

test('a contact that is deleted between reading and starting is counted as a failure', async (t) => {
  const stage = await openBulk(t)
  const { core, people, segment } = stage
  await order(stage, { segmentId: segment.id })
  const job = await claimJob(core, BULK_START_KIND)
  let isFirst = true
  const write: typeof core.store.write = async (fn, options) => {
    if (isFirst) {
      isFirst = false
      await core.store.write(
        async (tx) => void (await tx.delete(contacts).where(eq(contacts.id, people[1] ?? ''))),
      )
    }
    return core.store.write(fn, options)
  }
  const result = await runBulkStart({ ...core, store: { ...core.store, write } }, job)
  assert.deepEqual([result.startedCount, result.failureCount], [5, 1])
})

test('the job ends for good when the workflow, the project or the segment is gone', async (t) => {
  const stage = await openBulk(t)
  const { core, key, segment, project } = stage
  const fails = async (message: RegExp) => {
    const job = await claimJob(core, BULK_START_KIND)
    await assert.rejects(runBulkStart(core, job), (error: unknown) => {
      assert.ok(error instanceof FinalFailure)
      assert.match(error.message, message)
      return true
    })
  }
  await order(stage, { segmentId: segment.id })
  await order(stage, { filter: condition('pro') })
  await deleteSegment(core, { projectId: key.projectId, id: segment.id })
  await fails(/segment/)
  await disable(stage)
  core.clock.now += 1
  await fails(/disabled/)
  await core.store.write(async (tx) => void (await tx.update(workflows).set({ isEnabled: true })))
  core.clock.now += 1
  await order(stage, { filter: condition('pro') })
  await updateProject(core, project.id, { disable: 'MANUAL' })
  await fails(/project/)
  assert.deepEqual(await executionsOf(stage), [])
})

test('what cannot begin is refused at once', async (t) => {
  const stage = await openBulk(t)
  const { core, key, segment } = stage
  await assert.rejects(order(stage, { segmentId: newId() }), { code: 'RESOURCE_NOT_FOUND' })
  await assert.rejects(order(stage, { filter: { logic: 'X' } }), { code: 'VALIDATION_ERROR' })
  const bare = await addWorkflow(core, { projectId: key.projectId, steps: [] })
  const of = (id: string) =>
    startMany(core, { ...key, id, selection: { segmentId: segment.id }, context: null })
  await assert.rejects(of(bare.id), { code: 'BAD_REQUEST', message: /TRIGGER/ })
  await assert.rejects(of(newId()), { code: 'WORKFLOW_NOT_FOUND' })
  const jobId = await order(stage, { segmentId: segment.id })
  await assert.rejects(findBulkStart(core, { ...key, id: bare.id, jobId }), {
    code: 'RESOURCE_NOT_FOUND',
  })
  await disable(stage)
  await assert.rejects(order(stage, { segmentId: segment.id }), {
    code: 'BAD_REQUEST',
    message: /disabled/,
  })
})
