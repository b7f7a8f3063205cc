/** What works on a project's rows leaves a project alone that is being reset or was deleted. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { digestSecret } from '../../../../src/features/ground/directory.ts'
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import { startUrgentReader } from '../../../../src/features/ground/events/readers.ts'
import { startRequestLog } from '../../../../src/features/ground/requests/log.ts'
import {
  isUnderDisabledRoot,
  requireEnabledProject,
} from '../../../../src/features/mail/domains/ownership.ts'
import {
  deleteProject,
  resetProject,
} from '../../../../src/features/operation/erasure/end-project.ts'
import {
  listDueCampaigns,
  listSending,
} from '../../../../src/features/outreach/campaigns/sending/active.ts'
import { settleStopped } from '../../../../src/features/outreach/campaigns/settle-stopped.ts'
import { createEndpoint } from '../../../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { webhookHandler } from '../../../../src/features/outreach/webhooks/follow-events.ts'
import { takeDeliveries } from '../../../../src/features/outreach/webhooks/sending/endpoint-tasks.ts'
import { triggerHandler } from '../../../../src/features/outreach/workflows/engine/follow-events.ts'
import { settleCancelled } from '../../../../src/features/outreach/workflows/executions/cancel-all.ts'
import { fireDue } from '../../../../src/features/outreach/workflows/schedule/loop.ts'
import { findPageContact } from '../../../../src/features/people/contacts/read/public-contact.ts'
import { refreshSegments } from '../../../../src/features/people/segments/compute.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import {
  describeKeys,
  listProjects,
  loadProject,
  regenerateKeys,
  updateProject,
} from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { apiRequests } from '../../../../src/store/schema/service.ts'
import { addProject, openTestCore, trustDomain } from '../../../core.ts'
import { addCampaign } from '../../outreach/campaigns/add-campaign.ts'
import { addDelivery } from '../../outreach/webhooks/add-delivery.ts'
import { addExecution, addWorkflow } from '../../outreach/workflows/add-workflow.ts'
import { addRecipient } from '../../people/contacts/add-recipient.ts'
import { listAll } from './fill.ts'

const erasures = {
  reset: resetProject,
  deletion: (core: Parameters<typeof deleteProject>[0], id: string) =>
    deleteProject(core, id, { force: true }),
}

/** A project of which everything works, or is due. */
async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const projectId = project.id
  await trustDomain(core, projectId, 'shop.test')
  const { contactId, emailId } = await addRecipient(core, { projectId })
  await addCampaign(core, { projectId })
  await addCampaign(core, { projectId, status: 'SCHEDULED', scheduledFor: core.now() })
  const filters = [{ field: 'email', operator: 'contains', value: '@' }]
  const segment = await createSegment(core, {
    ...{ projectId, name: 'All', type: 'DYNAMIC', description: null, hasMembershipEvents: true },
    condition: { logic: 'AND', groups: [{ filters }] },
  } as never)
  const triggers = { triggerType: 'EVENT' as const, triggerEvent: 'order placed' }
  const workflow = await addWorkflow(core, { projectId, ...triggers })
  const scheduled = { segmentId: segment.id, nextFireAt: core.now() }
  const firing = { triggerType: 'SCHEDULE' as const, triggerConfig: { schedule: '* * * * *' } }
  await addWorkflow(core, { projectId, ...firing, ...scheduled } as never)
  await addExecution(core, { projectId, workflowId: workflow.id, contactId, dueAt: core.now() })
  const url = 'https://hooks.test/'
  const endpoint = await createEndpoint(core, { projectId, url, events: ['*'] })
  await addDelivery(core, { projectId, endpointId: endpoint.id })
  return { core, project, projectId, contactId, emailId, endpointId: endpoint.id }
}

type Stage = Awaited<ReturnType<typeof setUp>>

/** Of all tables but the places of followers. */
async function digestTables({ core }: Stage): Promise<string> {
  const { read } = core.store
  const rows: unknown[] = []
  for (const { name } of await listAll(read)) {
    if (name === 'event_followers' || name === 'events') continue
    rows.push([name, await read.all(sql`select * from ${sql.identifier(name)}`)])
  }
  return hash('sha256', JSON.stringify(rows))
}

for (const [name, erase] of Object.entries(erasures)) {
  test(`nothing works on the rows of a project from its ${name} on`, async (t) => {
    const stage = await setUp(t)
    const { core, projectId, contactId, emailId, endpointId } = stage
    const followers = [startUrgentReader(core, [webhookHandler(core), triggerHandler(core)])]
    t.after(() => Promise.all(followers.map((follower) => follower.stop())))
    for (const follower of followers) await follower.caughtUp()
    await erase(core, projectId)
    const digest = await digestTables(stage)
    const event = { projectId, name: 'order placed', contactId, emailId, data: null }
    await core.store.write((tx) => appendEvent(tx, { ...event, at: core.now() }))
    for (const follower of followers) await follower.caughtUp()
    await settleStopped(core)
    await settleCancelled(core)
    await fireDue(core)
    await refreshSegments(core, new AbortController().signal)
    assert.deepEqual(await listSending(core.store.read), [])
    assert.deepEqual(await listDueCampaigns(core), [])
    const query = { taken: new Set<number>(), limit: 10, now: core.now() }
    const { tasks } = await takeDeliveries(core, { id: endpointId, projectId }, query)
    assert.deepEqual(tasks, [])
    assert.equal(await digestTables(stage), digest)
  })
}

test('other projects may add domains below those of a project that is being reset', async (t) => {
  const { core, projectId } = await setUp(t)
  const isClosed = () => isUnderDisabledRoot(core.store.read, 'news.shop.test')
  await resetProject(core, projectId)
  assert.equal(await isClosed(), false)
  await updateProject(core, projectId, { disable: 'MANUAL' })
  assert.equal(await isClosed(), true)
})

test('a deleted project is not listed, found or changed, and its domains are free', async (t) => {
  const { core, project, projectId, contactId } = await setUp(t)
  await deleteProject(core, projectId, { force: true })
  assert.deepEqual(await listProjects(core), [])
  const gone = { code: 'RESOURCE_NOT_FOUND' }
  await assert.rejects(loadProject(core, projectId), gone)
  await assert.rejects(updateProject(core, projectId, { enable: true }), gone)
  await assert.rejects(regenerateKeys(core, projectId), gone)
  await assert.rejects(describeKeys(core, projectId), gone)
  await assert.rejects(deleteProject(core, projectId), gone)
  await assert.rejects(resetProject(core, projectId), gone)
  await assert.rejects(requireEnabledProject(core.store.read, projectId), gone)
  const { directory } = core
  assert.equal(await directory.findProject(projectId), undefined)
  assert.equal(await directory.findProjectByDigest(digestSecret(project.secret)), undefined)
  assert.equal(await directory.findProjectByPublicKey(project.public), undefined)
  assert.equal(await directory.findMailboxDomain('shop.test'), undefined)
  assert.equal(await core.store.read.$count(domains), 0)
  assert.equal(await findPageContact(core, { contactId, emailId: undefined }), undefined)
})

test('lines of the request log that come after a deletion do not name the project', async (t) => {
  const { core, projectId } = await setUp(t)
  const log = startRequestLog(core)
  await deleteProject(core, projectId, { force: true })
  log.record({
    ...{ id: 'request-1', method: 'DELETE', path: '/users/@me/projects', statusCode: 200 },
    ...{ durationMs: 1, projectId, userId: 'u', caller: 'session', ip: null, userAgent: null },
    ...{ errorCode: null, errorMessage: null, requestSizeBytes: 0, responseSizeBytes: 0 },
    createdAt: core.now(),
  })
  await log.stop()
  const line = await core.store.read
    .select()
    .from(apiRequests)
    .where(eq(apiRequests.id, 'request-1'))
  assert.deepEqual(
    line.map((each) => [each.projectId, each.userId]),
    [[null, 'u']],
  )
})
