/** The list of jobs, and their end before their time. */
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { DAY_MS } from '../../../src/base/clock.ts'
import { enqueueForProject } from '../../../src/features/ground/enqueue-for-project.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { importChunks, jobs } from '../../../src/store/schema/jobs.ts'
import { enqueueJob } from '../../../src/work/jobs/enqueue.ts'
import { addWorkflow } from '../../features/outreach/workflows/add-workflow.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { claimJob } from '../../work/jobs/running.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService()

beforeEach(() => service.core.store.write((tx) => tx.delete(jobs).run()))

const contactIds = () => [newId()]

async function startBulk(operation = 'subscribe', by = mine): Promise<string> {
  const body = { contactIds: contactIds() }
  const { body: answer } = await call('post', `/contacts/bulk-${operation}`, by).send(body)
  return answer.jobId
}

const change = (id: string, columns: Partial<typeof jobs.$inferInsert>) =>
  service.core.store.write((tx) => tx.update(jobs).set(columns).where(eq(jobs.id, id)).run())

async function jobOf(id: string) {
  const job = await service.core.store.read.select().from(jobs).where(eq(jobs.id, id)).get()
  assert.ok(job !== undefined)
  return job
}

const listIds = async (query = '') => {
  const { body } = await call('get', `/jobs${query}`)
  return body.data.map(({ id }: { id: string }) => id)
}

function enqueue(kind: string, payload: object, prefix = kind): Promise<string> {
  const job = { prefix, kind, payload, projectId: mine.id, now: service.core.now() }
  return service.core.store.write((tx) => enqueueForProject(tx, job))
}

function upload(path: string, filename: string): Promise<Response> {
  const form = new FormData()
  form.append('file', new Blob(['email\nann@example.org\n'], { type: 'text/csv' }), filename)
  const headers = { authorization: `Bearer ${mine.secret}` }
  return fetch(service.url + path, { method: 'POST', body: form, headers })
}

describe('GET /jobs', () => {
  it('lists no jobs of a project that has none', async () => {
    const { status, body } = await call('get', '/jobs')
    assert.equal(status, 200)
    assert.deepEqual(body, { data: [], cursor: null, hasMore: false, total: 0 })
  })

  it('lists each kind with its label, and the path that shows it', async () => {
    const endpoint = await call('post', '/webhooks/endpoints').send({
      ...{ url: 'https://example.com/hook', events: ['email.*'] },
    })
    const endpointId = endpoint.body.id
    const { id: workflowId } = await addWorkflow(service.core, { projectId: mine.id })
    await upload('/contacts/import', 'people.csv')
    await upload('/suppressions/import', 'left.csv')
    for (const operation of ['subscribe', 'unsubscribe', 'delete']) await startBulk(operation)
    await call('post', '/contacts/verify').send({ emails: ['ann@example.org'] })
    const since = new Date(service.core.now() - DAY_MS).toISOString()
    await call('post', `/webhooks/endpoints/${endpointId}/replay`).send({ since })
    await enqueue('delete-field', { projectId: mine.id, key: 'plan', deletedFrom: 9_000 })
    await enqueue('delete-events', { projectId: mine.id, name: 'order', total: 900, last: 1 })
    const selection = { workflowId, projectId: mine.id, filter: {}, context: null }
    await enqueue('start-executions', selection, 'bulk-start')
    const { body } = await call('get', '/jobs')
    type Job = { id: string; kind: string; label: string; statusUrl: string }
    const found = new Map<string, Job>(body.data.map((job: Job) => [job.kind, job]))
    const expected = {
      import: ['Import contacts from people.csv', '/contacts/import'],
      'suppressions-import': ['Import suppressions from left.csv', '/suppressions/import'],
      'bulk-subscribe': ['Subscribe contacts', '/contacts/bulk'],
      'bulk-unsubscribe': ['Unsubscribe contacts', '/contacts/bulk'],
      'bulk-delete': ['Delete contacts', '/contacts/bulk'],
      verify: ['Verify addresses', '/contacts/verify'],
      'replay-webhooks': [
        'Send the events of a span of time to a webhook again',
        `/webhooks/endpoints/${endpointId}/replay`,
      ],
      'delete-field': ['Delete the field data.plan', '/contacts/bulk'],
      'delete-events': ['Delete the events order', '/events/jobs'],
      'bulk-start': ['Start executions of a workflow', `/workflows/${workflowId}/executions/bulk`],
    }
    assert.deepEqual([...found.keys()].sort(), Object.keys(expected).sort())
    assert.equal(body.total, found.size)
    for (const [kind, [label, path]] of Object.entries(expected)) {
      const job = found.get(kind)
      assert.deepEqual([job?.label, job?.statusUrl], [label, `${path}/${job?.id}`])
      const shown = await call('get', job?.statusUrl ?? '')
      assert.deepEqual([shown.status, shown.body.id], [200, job?.id], kind)
    }
  })

  it('says who asked, and how far the job is', async () => {
    const { core } = service
    const { id: userId, address } = await addUser(core)
    await addMember(core, { projectId: mine.id, userId, role: 'MEMBER' })
    const headers = { cookie: await logIn(core, userId), 'x-project-id': mine.id }
    const asked = await supertest(service.url)
      .post('/contacts/bulk-delete')
      .set(headers)
      .send({ contactIds: contactIds() })
    const { jobId } = asked.body
    const { createdAt: at } = await jobOf(jobId)
    const createdAt = new Date(at).toISOString()
    const common = { kind: 'bulk-delete', label: 'Delete contacts', isCancelling: false }
    const waiting = {
      ...{ id: jobId, ...common, state: 'waiting', progress: 0, done: 0, total: null },
      ...{ createdAt, startedAt: null, finishedAt: null, by: { userId, email: address } },
      ...{ failedReason: null, statusUrl: `/contacts/bulk/${jobId}` },
    }
    const first = await supertest(service.url).get('/jobs').set(headers)
    assert.deepEqual(first.body.data, [waiting])
    await claimJob(core, 'bulk')
    await change(jobId, { done: 40, total: 100, progress: 40 })
    const second = await call('get', '/jobs')
    const startedAt = new Date((await jobOf(jobId)).startedAt ?? 0).toISOString()
    const running = { state: 'active', progress: 40, done: 40, total: 100, startedAt }
    assert.deepEqual(second.body.data, [{ ...waiting, ...running }])
    await change(jobId, {
      ...{ state: 'failed', completedAt: at + 1, error: 'It broke.', userId: newId() },
    })
    const [failed] = (await call('get', '/jobs')).body.data
    assert.deepEqual(
      [failed.state, failed.failedReason, failed.finishedAt, failed.by],
      ['failed', 'It broke.', new Date(at + 1).toISOString(), null],
    )
  })

  it('has the running jobs first, then those that wait, then those of the last 24 hours', async () => {
    const { core } = service
    const at = core.now()
    const [old, ended, newer, waiting, delayed, active] = await Promise.all(
      Array.from({ length: 6 }, () => startBulk()),
    )
    const end = { state: 'completed', progress: 100 } as const
    await change(old ?? '', { ...end, completedAt: at - DAY_MS - 1 })
    await change(ended ?? '', { ...end, completedAt: at - DAY_MS + 60_000 })
    await change(newer ?? '', { ...end, state: 'cancelled', completedAt: at - 1_000 })
    await change(waiting ?? '', { createdAt: at - 2_000 })
    await change(delayed ?? '', { createdAt: at - 1_000, runAt: at + 60_000 })
    await change(active ?? '', { state: 'active', createdAt: at - 9_000 })
    const expected = [active, delayed, waiting, newer, ended]
    assert.deepEqual(await listIds(), expected)
    const paged: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await call('get', `/jobs?limit=2${query}`)
      assert.equal(body.total, cursor === '' ? 5 : 0)
      paged.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.cursor
    }
    assert.deepEqual(paged, expected)
    const { status } = await call('get', '/jobs?cursor=x')
    assert.equal(status, 422)
  })

  it("lists neither another project's jobs nor the server's own", async () => {
    await startBulk('subscribe', other)
    const { core } = service
    const own = { projectId: mine.id, payload: {}, now: core.now() }
    await core.store.write(async (tx) => {
      await enqueueJob(tx, { ...own, kind: 'clear-segment' })
      await enqueueJob(tx, { ...own, kind: 'start-executions', uniqueKey: 'schedule x' })
    })
    assert.deepEqual(await listIds(), [])
  })
})

describe('DELETE /jobs/:id', () => {
  it('ends a job that waits, and its own route says so', async () => {
    const id = await startBulk()
    const { status, body } = await call('delete', `/jobs/${id}`)
    assert.deepEqual([status, body.id, body.state], [200, id, 'cancelled'])
    assert.notEqual(body.finishedAt, null)
    const shown = await call('get', body.statusUrl)
    assert.deepEqual([shown.body.state, shown.body.failedReason], ['cancelled', null])
    assert.deepEqual(shown.body.result, {
      ...{ operation: 'subscribe', totalRequested: 0, successCount: 0, unchangedCount: 0 },
      ...{ keptUnsubscribedCount: 0, failureCount: 0, errors: [] },
    })
  })

  it('gives the jobs of each kind a result that their route can show', async () => {
    const { id: workflowId } = await addWorkflow(service.core, { projectId: mine.id })
    await upload('/contacts/import', 'people.csv')
    await upload('/suppressions/import', 'left.csv')
    await call('post', '/contacts/verify').send({ emails: ['ann@example.org'] })
    await enqueue('delete-field', { projectId: mine.id, key: 'plan', deletedFrom: 9_000 })
    await enqueue('delete-events', { projectId: mine.id, name: 'order', total: 900, last: 1 })
    const selection = { workflowId, projectId: mine.id, filter: {}, context: null }
    await enqueue('start-executions', selection, 'bulk-start')
    for (const id of await listIds()) {
      const { status, body } = await call('delete', `/jobs/${id}`)
      assert.equal(status, 200, id)
      const shown = await call('get', body.statusUrl)
      assert.equal(shown.body.state, 'cancelled', id)
      assert.notEqual(shown.body.result, null, id)
    }
  })

  it('deletes the file of an import that waits', async () => {
    const { read } = service.core.store
    const before = await read.$count(importChunks)
    await upload('/contacts/import', 'people.csv')
    await upload('/suppressions/import', 'left.csv')
    assert.equal(await read.$count(importChunks), before + 2)
    for (const id of await listIds()) await call('delete', `/jobs/${id}`)
    assert.equal(await read.$count(importChunks), before)
  })

  it('asks a running job to stop', async () => {
    const id = await startBulk()
    await claimJob(service.core, 'bulk')
    const notices: string[] = []
    service.core.jobCancels.listen((each) => notices.push(each))
    for (const _ of [1, 2]) {
      const { status, body } = await call('delete', `/jobs/${id}`)
      assert.deepEqual([status, body.state, body.isCancelling], [200, 'active', true])
    }
    assert.deepEqual(notices, [id, id])
    const [listed] = (await call('get', '/jobs')).body.data
    assert.equal(listed.isCancelling, true)
  })

  it('refuses a job that has ended, with its state', async () => {
    const id = await startBulk()
    for (const state of ['completed', 'failed', 'cancelled'] as const) {
      await change(id, { state, completedAt: service.core.now() })
      const { status, body } = await call('delete', `/jobs/${id}`)
      assert.deepEqual([status, body.error.code], [409, 'CONFLICT'])
      assert.deepEqual(body.error.details, { state })
    }
  })

  it("finds neither another project's job, nor the server's own, nor any that is not there", async () => {
    const theirs = await startBulk('subscribe', other)
    const { core } = service
    const own = { projectId: mine.id, payload: {}, now: core.now(), id: 'own' }
    await core.store.write((tx) => enqueueJob(tx, { ...own, kind: 'clear-segment' }))
    for (const id of [theirs, 'own', newId(), 'x']) {
      const { status, body } = await call('delete', `/jobs/${id}`)
      assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'], id)
    }
    assert.equal((await jobOf(theirs)).state, 'waiting')
  })
})
