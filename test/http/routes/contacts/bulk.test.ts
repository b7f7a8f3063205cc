import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../../src/store/ids.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import type { TestProject } from '../../../core.ts'
import { useService } from '../../service.ts'

const { service, mine, other, call } = useService()

const post = (operation: string, body: object, by: TestProject = mine) =>
  call('post', `/contacts/bulk-${operation}`, by).send(body)

const findJob = (jobId: string, by: TestProject = mine) =>
  call('get', `/contacts/bulk/${jobId}`, by)

const ids = (count: number) => Array.from({ length: count }, () => newId())
const condition = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
}

test('a job is enqueued for each form of selection, and echoes it', async () => {
  const contactIds = ids(1000)
  const excludeIds = ids(10_000)
  const byIds = { mode: 'ids', contactIds }
  const bodies = [
    [{ contactIds }, byIds],
    [{ mode: 'ids', contactIds: contactIds.map((id) => id.toUpperCase()) }, byIds],
    [
      { contactIds: [...contactIds.slice(1), contactIds[1]] },
      { ...byIds, contactIds: contactIds.slice(1) },
    ],
    [
      { mode: 'query', filter: {} },
      { mode: 'query', filter: {}, excludeIds: [] },
    ],
    [
      {
        mode: 'query',
        filter: { search: 'x'.repeat(255), subscribed: false, condition },
        excludeIds,
      },
      {
        mode: 'query',
        filter: { search: 'x'.repeat(255), subscribed: false, condition },
        excludeIds,
      },
    ],
  ] as const
  const asked = { resubscribe: false }
  for (const operation of ['subscribe', 'unsubscribe', 'delete']) {
    for (const [body, echo] of bodies) {
      const { status, body: answer } = await post(operation, body)
      assert.equal(status, 202)
      assert.deepEqual(Object.keys(answer), ['message', 'jobId'])
      assert.match(answer.jobId, new RegExp(`^bulk-${operation}-${mine.id}-\\d{13}$`))
      const { status: found, body: job } = await findJob(answer.jobId)
      assert.equal(found, 200)
      assert.deepEqual(job, {
        id: answer.jobId,
        state: 'waiting',
        progress: 0,
        result: null,
        data: { operation, projectId: mine.id, ...(operation === 'subscribe' && asked), ...echo },
        failedReason: null,
      })
    }
  }
})

test('a job of another project is not found, and neither is one of another kind', async () => {
  const { body } = await post('delete', { contactIds: ids(1) }, other)
  for (const jobId of [body.jobId, 'bulk-delete-x', newId(), '%00']) {
    const answer = await findJob(jobId)
    assert.equal(answer.status, 404, jobId)
    assert.equal(answer.body.error.code, 'RESOURCE_NOT_FOUND')
  }
  assert.equal((await findJob(body.jobId, other)).status, 200)
})

test('a body without exactly one selection is refused, and nothing is queued', async () => {
  const before = await service.core.store.read.$count(jobs)
  const [id = ''] = ids(1)
  const refusals: [object, string, string][] = [
    [{}, 'contactIds', 'invalid_type'],
    [{ mode: 'ids' }, 'contactIds', 'invalid_type'],
    [{ mode: 'some', contactIds: [id] }, 'mode', 'invalid_enum_value'],
    [{ contactIds: [] }, 'contactIds', 'too_small'],
    [{ contactIds: ids(1001) }, 'contactIds', 'too_big'],
    [{ contactIds: id }, 'contactIds', 'invalid_type'],
    [{ contactIds: [id, 'me'] }, 'contactIds.1', 'invalid_string'],
    [{ contactIds: [id], filter: { subscribed: true } }, 'filter', 'custom'],
    [{ contactIds: [id], excludeIds: [id] }, 'excludeIds', 'custom'],
    [{ mode: 'query' }, 'filter', 'invalid_type'],
    [{ mode: 'query', contactIds: [id], filter: {} }, 'contactIds', 'custom'],
    [{ mode: 'query', filter: { search: 'x'.repeat(256) } }, 'filter.search', 'too_big'],
    [{ mode: 'query', filter: { search: ' \t' } }, 'filter.search', 'custom'],
    [{ mode: 'query', filter: { subscribed: 'no' } }, 'filter.subscribed', 'invalid_type'],
    [{ mode: 'query', filter: { subscribd: false } }, 'filter.subscribd', 'unrecognized'],
    [{ mode: 'query', filter: {}, excludedIds: [id] }, 'excludedIds', 'unrecognized'],
    [{ mode: 'query', filter: {}, excludeIds: ids(10_001) }, 'excludeIds', 'too_big'],
    [{ mode: 'query', filter: { condition: {} } }, 'filter.condition.logic', 'invalid_type'],
  ]
  for (const [body, field, code] of refusals) {
    const { status, body: answer } = await post('delete', body)
    assert.equal(status, 422, JSON.stringify(body).slice(0, 100))
    assert.equal(answer.error.code, 'VALIDATION_ERROR')
    const [first] = answer.error.errors
    assert.deepEqual([first.field, first.code], [field, code])
  }
  const segment = { field: `segment.${id}`, operator: 'memberOfSegment' }
  const unknown = { logic: 'AND', groups: [{ filters: [segment] }] }
  const { status } = await post('delete', { mode: 'query', filter: { condition: unknown } })
  assert.equal(status, 400)
  assert.equal(await service.core.store.read.$count(jobs), before)
})
