import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { workflowExecutions } from '../../../../src/store/schema/workflows.ts'
import {
  type AddedWorkflow,
  addExecution,
  addWorkflow,
} from '../../../features/outreach/workflows/add-workflow.ts'
import { addContacts } from '../../../features/people/contacts/add-contacts.ts'
import { useService } from '../../service.ts'

const { service, mine, other, call } = useService()
let used = 0

/** A contact that no other test uses. */
async function person(projectId = mine.id): Promise<string> {
  used += 1
  const [id = ''] = await addContacts(service.core, projectId, [{ email: `p${used}@people.test` }])
  return id
}

const make = (fields: Partial<Parameters<typeof addWorkflow>[1]> = {}) =>
  addWorkflow(service.core, { projectId: mine.id, ...fields })

const start = ({ id }: Pick<AddedWorkflow, 'id'>, body: object, by = mine) =>
  call('post', `/workflows/${id}/executions`, by).send(body)

const rowsOf = ({ id }: AddedWorkflow) =>
  service.core.store.read
    .select()
    .from(workflowExecutions)
    .where(eq(workflowExecutions.workflowId, id))
    .all()

const refusal = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
  status,
  body.error?.code,
]

test('a start answers with the record of the execution', async () => {
  const workflow = await make()
  const contactId = await person()
  const { status, body } = await start(workflow, { contactId, context: { plan: { name: 'pro' } } })
  assert.equal(status, 201)
  const { id, startedAt } = body
  assert.deepEqual(body, {
    ...{ id, workflowId: workflow.id, contactId, status: 'RUNNING' },
    ...{ currentStepId: workflow.steps.TRIGGER, exitReason: null },
    ...{ reasonCode: null, reasonData: null },
    ...{ context: { plan: { name: 'pro' } }, sourceEventId: null },
    ...{ startedAt, completedAt: null, createdAt: startedAt, updatedAt: startedAt },
    contact: { id: contactId, email: `p${used}@people.test` },
    currentStep: { id: workflow.steps.TRIGGER, name: 'TRIGGER', type: 'TRIGGER' },
    depth: 0,
    heldReason: null,
  })
})

describe('a start is refused', () => {
  it('while the workflow is disabled or has no TRIGGER step', async () => {
    const contactId = await person()
    for (const workflow of [await make({ isEnabled: false }), await make({ steps: [] })]) {
      assert.deepEqual(refusal(await start(workflow, { contactId })), [400, 'BAD_REQUEST'])
      assert.deepEqual(await rowsOf(workflow), [])
    }
  })

  it('for unknown contacts and workflows, and for those of another project', async () => {
    const workflow = await make()
    for (const contactId of [newId(), await person(other.id)]) {
      assert.deepEqual(refusal(await start(workflow, { contactId })), [404, 'CONTACT_NOT_FOUND'])
    }
    const contactId = await person()
    const unknown = [404, 'WORKFLOW_NOT_FOUND']
    assert.deepEqual(refusal(await start({ id: newId() }, { contactId })), unknown)
    assert.deepEqual(refusal(await start(workflow, { contactId }, other)), unknown)
    assert.deepEqual(await rowsOf(workflow), [])
  })

  it('for a contact that has been in the workflow, which is counted', async () => {
    const workflow = await make()
    const contactId = await person()
    await start(workflow, { contactId })
    assert.deepEqual(refusal(await start(workflow, { contactId })), [409, 'CONFLICT'])
    assert.equal((await rowsOf(workflow)).length, 1)
    const { body } = await call('get', `/workflows/${workflow.id}/stats`)
    assert.equal(body.executions.heldBack, 1)
  })

  it('after 100 starts within an hour', async () => {
    const workflow = await make({ allowsReentry: true })
    const contactId = await person()
    const ended = { projectId: mine.id, workflowId: workflow.id, contactId }
    for (let each = 0; each < 100; each += 1) {
      await addExecution(service.core, { ...ended, status: 'COMPLETED' })
    }
    for (let each = 0; each < 2; each += 1) {
      const answer = await start(workflow, { contactId })
      assert.deepEqual(refusal(answer), [409, 'CONFLICT'])
      assert.match(answer.body.error.message, /100 times/)
    }
    const { body } = await call('get', `/workflows/${workflow.id}/executions?status=CANCELLED`)
    assert.deepEqual([body.total, body.executions[0].exitReason], [1, 'too many starts'])
    assert.equal(body.executions[0].reasonCode, 'too_many_starts')
  })

  const wrong: [string, unknown, string][] = [
    ['no contact', {}, 'contactId'],
    ['a contact id that is no UUID', { contactId: 'x' }, 'contactId'],
    ['a list as context', { context: [] }, 'context'],
    ['a text as context', { context: 'x' }, 'context'],
    ['more than 64 KB of context', { context: { text: 'x'.repeat(70_000) } }, 'context'],
    ['an empty key in the context', { context: { a: { '': 1 } } }, 'context.a'],
    ['a number that JSON cannot carry', { context: { n: 'NUMBER' } }, 'context.n'],
  ]
  for (const [name, fields, field] of wrong) {
    it(`for ${name}`, async () => {
      const workflow = await make()
      const given = name === 'no contact' ? {} : { contactId: await person() }
      const text = JSON.stringify({ ...given, ...(fields as object) }).replace('"NUMBER"', '1e999')
      const answer = await call('post', `/workflows/${workflow.id}/executions`)
        .set('Content-Type', 'application/json')
        .send(text)
      assert.deepEqual(refusal(answer), [422, 'VALIDATION_ERROR'])
      assert.equal(answer.body.error.errors[0].field, field)
      assert.deepEqual(await rowsOf(workflow), [])
    })
  }
})

test('names of prototypes change nothing in a context, and are no ids', async () => {
  const workflow = await make()
  const contactId = await person()
  const text = `{"contactId":"${contactId}","context":{"__proto__":{"a":1},"constructor":2}}`
  const { status, body } = await call('post', `/workflows/${workflow.id}/executions`)
    .set('Content-Type', 'application/json')
    .send(text)
  assert.equal(status, 201)
  assert.equal(body.context.constructor, 2)
  assert.equal(body.context.a, undefined)
  for (const path of ['__proto__', 'constructor', `${workflow.id}/executions/__proto__`]) {
    const stats = await call('get', `/workflows/${path}${path.includes('/') ? '' : '/stats'}`)
    assert.deepEqual(refusal(stats), [422, 'VALIDATION_ERROR'])
  }
})

test('a list has pages, a status filter and totals', async () => {
  const workflow = await make()
  const ids: string[] = []
  for (const status of ['COMPLETED', 'WAITING', 'COMPLETED'] as const) {
    const contactId = await person()
    const given = { projectId: mine.id, workflowId: workflow.id, contactId, status }
    ids.unshift((await addExecution(service.core, given)).id)
  }
  const path = `/workflows/${workflow.id}/executions`
  const { body } = await call('get', `${path}?page=2&pageSize=2`)
  const { executions, ...rest } = body
  assert.deepEqual(rest, { total: 3, page: 2, pageSize: 2, totalPages: 2 })
  assert.deepEqual(
    executions.map(({ id }: { id: string }) => id),
    ids.slice(2),
  )
  const { body: completed } = await call('get', `${path}?status=COMPLETED&pageSize=1000`)
  assert.deepEqual([completed.total, completed.pageSize], [2, 100])
  for (const query of ['status=DONE', 'page=0', 'pageSize=x']) {
    assert.deepEqual(refusal(await call('get', `${path}?${query}`)), [422, 'VALIDATION_ERROR'])
  }
  assert.deepEqual(refusal(await call('get', path, other)), [404, 'WORKFLOW_NOT_FOUND'])
})

test('one execution is shown, retried and cancelled, by its own workflow and project only', async () => {
  const workflow = await make()
  const another = await make()
  const { TRIGGER = '' } = workflow.steps
  const { id } = await addExecution(service.core, {
    ...{ projectId: mine.id, workflowId: workflow.id, contactId: await person() },
    ...{ status: 'FAILED', currentStepId: TRIGGER },
    steps: [{ stepId: TRIGGER, status: 'FAILED', error: 'broken' }],
  })
  const path = `/workflows/${workflow.id}/executions/${id}`
  const foreign = `/workflows/${another.id}/executions/${id}`
  assert.deepEqual(refusal(await call('get', foreign)), [404, 'RESOURCE_NOT_FOUND'])
  assert.deepEqual(refusal(await call('delete', foreign)), [404, 'RESOURCE_NOT_FOUND'])
  assert.deepEqual(refusal(await call('post', `${foreign}/retry`)), [404, 'RESOURCE_NOT_FOUND'])
  for (const method of ['get', 'delete'] as const) {
    assert.deepEqual(refusal(await call(method, path, other)), [404, 'WORKFLOW_NOT_FOUND'])
  }
  const { body: shown } = await call('get', path)
  assert.deepEqual(shown.workflow, { id: workflow.id, name: 'Welcome' })
  assert.deepEqual([shown.status, shown.stepExecutions[0].error], ['FAILED', 'broken'])
  const { status, body } = await call('post', `${path}/retry`)
  assert.deepEqual([status, body.status], [200, 'RUNNING'])
  assert.deepEqual(refusal(await call('post', `${path}/retry`)), [409, 'CONFLICT'])
  for (let each = 0; each < 2; each += 1) {
    const { status: deleted, body: cancelled } = await call('delete', path)
    assert.deepEqual([deleted, cancelled.status], [200, 'CANCELLED'])
    assert.equal(cancelled.exitReason, 'cancelled by user')
  }
})

test('all active executions are cancelled, with their number', async () => {
  const workflow = await make()
  for (let each = 0; each < 3; each += 1) await start(workflow, { contactId: await person() })
  const path = `/workflows/${workflow.id}/executions/cancel-all`
  assert.deepEqual(refusal(await call('post', path, other)), [404, 'WORKFLOW_NOT_FOUND'])
  const refused = await call('post', path).send({ contactId: newId() })
  const [first] = refused.body.error.errors
  assert.deepEqual([refused.status, first.field, first.code], [422, 'contactId', 'unrecognized'])
  assert.deepEqual((await call('post', path)).body, { cancelled: 3 })
  assert.deepEqual((await call('post', path)).body, { cancelled: 0 })
  const { body } = await call('get', `/workflows/${workflow.id}/stats`)
  assert.deepEqual([body.executions.cancelled, body.executions.running], [3, 0])
})

describe('a bulk start', () => {
  const filter = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
  }

  it('is a job of its workflow', async () => {
    const [workflow, another] = [await make(), await make()]
    const path = `/workflows/${workflow.id}/executions/bulk`
    const { id: segmentId } = await createSegment(service.core, {
      ...{ projectId: mine.id, name: newId(), type: 'STATIC' },
    })
    for (const selection of [{ filter, context: { a: 1 } }, { segmentId }]) {
      const { status, body } = await call('post', path).send(selection)
      assert.equal(status, 202)
      const shown = await call('get', `${path}/${body.jobId}`)
      assert.deepEqual([shown.status, shown.body.state], [200, 'waiting'])
      const foreign = `/workflows/${another.id}/executions/bulk/${body.jobId}`
      assert.equal((await call('get', foreign)).status, 404)
      assert.equal((await call('get', `${path}/${body.jobId}`, other)).status, 404)
    }
  })

  it('needs exactly one of segmentId and filter', async () => {
    const workflow = await make()
    const path = `/workflows/${workflow.id}/executions/bulk`
    const before = await service.core.store.read.$count(jobs)
    const wrong = [
      {},
      { segmentId: newId(), filter },
      { filters: filter },
      { filter: { logic: 'AND' } },
      { filter, context: 1 },
      { segmentId: 'x' },
    ]
    for (const body of wrong) {
      assert.deepEqual(refusal(await call('post', path).send(body)), [422, 'VALIDATION_ERROR'])
    }
    const unknown = await call('post', path).send({ segmentId: newId() })
    assert.deepEqual(refusal(unknown), [404, 'RESOURCE_NOT_FOUND'])
    const disabled = await make({ isEnabled: false })
    const refused = await call('post', `/workflows/${disabled.id}/executions/bulk`).send({ filter })
    assert.deepEqual(refusal(refused), [400, 'BAD_REQUEST'])
    assert.equal(await service.core.store.read.$count(jobs), before)
  })
})
