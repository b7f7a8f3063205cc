import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import { countByName, listNames } from '../../../../src/features/ground/events/names.ts'
import { findEventUsage } from '../../../../src/features/ground/events/usage.ts'
import { ACTIVITY_TYPES } from '../../../../src/features/insight/activity/activity-entry.ts'
import { countRecent } from '../../../../src/features/insight/activity/figures.ts'
import { cancelEmails } from '../../../../src/features/mail/messages/queue/operate.ts'
import { address, START } from '../../../core.ts'
import { listActivity, listEvents, listEventsOfContact } from '../../../lists.ts'
import { openSender } from '../../mail/messages/sender.ts'
import { choose } from '../conditions/population.ts'

/** A contact with one email that was cancelled, one event of its own, and a suppressed email. */
async function openFailed(t: TestContext) {
  const sender = await openSender(t)
  const { core, project } = sender
  const { emails } = await sender.send()
  const emailId = emails[0]?.email as string
  const contactId = emails[0]?.contact.id as string
  await cancelEmails(core, [emailId])
  const own = { projectId: project.id, contactId, data: null, at: START }
  await core.store.write((tx) =>
    appendEvents(tx, [
      { ...own, name: 'signup', emailId: null },
      { ...own, name: 'email.suppressed', emailId },
    ]),
  )
  const deps = { ...core, outbound: { ...core.outbound, sites: () => [], preview: async () => [] } }
  return { ...sender, deps, emailId, contactId, projectId: project.id }
}

test('lists of events show a failed or suppressed email only when asked for by name', async (t) => {
  const { core, projectId, contactId, emailId } = await openFailed(t)
  const named = async (name?: string) =>
    (await listEvents(core, { projectId, limit: 10, name })).events
  assert.deepEqual(
    (await named()).map(({ name }) => name),
    ['signup'],
  )
  const [failed, ...others] = await named('email.failed')
  assert.equal(others.length, 0)
  const {
    error,
    reason,
    emailId: id,
    from,
    sourceType,
  } = (failed?.data ?? {}) as Record<string, unknown>
  assert.deepEqual(
    [error, reason, id, from, sourceType],
    ['cancelled', 'cancelled', emailId, 'shop@example.test', 'TRANSACTIONAL'],
  )
  assert.equal((await named('email.suppressed')).length, 1)
  const ofContact = await listEventsOfContact(core, { projectId, id: contactId, limit: 10 })
  assert.deepEqual(
    ofContact.map(({ name }) => name),
    ['signup'],
  )
})

test('names and counts omit unlisted events, the usage of a name does not', async (t) => {
  const { core, projectId } = await openFailed(t)
  assert.deepEqual(await listNames(core, { projectId }), ['signup'])
  assert.deepEqual(await listNames(core, { projectId, limit: 1 }), ['signup'])
  assert.deepEqual(await countByName(core, projectId), [{ name: 'signup', count: 1 }])
  const usage = await findEventUsage(core, { projectId, name: 'email.failed' })
  assert.deepEqual([usage.totalCount, usage.uniqueContacts, usage.canDelete], [1, 1, false])
})

for (const name of ['email.failed', 'email.suppressed']) {
  test(`a condition on event.${name} selects the contacts with such an event`, async (t) => {
    const { core, send, projectId, contactId } = await openFailed(t)
    await send({ to: [{ address: address('other@dest.test'), name: null }] })
    const filters = [{ field: `event.${name}`, operator: 'triggered' as const }]
    const condition = { logic: 'AND' as const, groups: [{ filters }] }
    const { ids } = await choose(core, { projectId, condition })
    assert.deepEqual(ids, [contactId])
  })
}

test('the feed includes unlisted events only when a request names their types', async (t) => {
  const { deps, projectId, contactId, emailId } = await openFailed(t)
  const feed = async (types?: string[], ofContact?: string) => {
    const query = { limit: 10, types, contactId: ofContact, isSummary: true }
    return (await listActivity(deps as never, projectId, query)).data
  }
  const typesOf = async (types?: string[], ofContact?: string) =>
    (await feed(types, ofContact)).map(({ type }) => type).sort()
  assert.deepEqual(await typesOf(), ['event.triggered'])
  assert.deepEqual(await typesOf(undefined, contactId), ['event.triggered'])
  assert.deepEqual(await typesOf([...ACTIVITY_TYPES]), ['event.triggered'])
  assert.deepEqual(await typesOf([...ACTIVITY_TYPES], contactId), ['event.triggered'])
  assert.deepEqual(await typesOf(['email.failed']), ['email.failed'])
  assert.deepEqual(await typesOf(['email.suppressed'], contactId), ['email.suppressed'])
  const both = ['event.triggered', 'email.failed']
  assert.deepEqual(await typesOf(both), ['email.failed', 'event.triggered'])
  assert.deepEqual(await typesOf(both, contactId), ['email.failed', 'event.triggered'])
  const [line] = await feed(['email.failed'])
  assert.ok(line?.id.startsWith(`${emailId}_failed_`))
  assert.deepEqual([line?.metadata.error, line?.metadata.reason], ['cancelled', 'cancelled'])
})

test('the recent count leaves out unlisted events', async (t) => {
  const { core, projectId } = await openFailed(t)
  // The email itself and the event `signup`.
  core.now = () => START + 1_000
  assert.deepEqual(await countRecent(core, projectId, 5), { count: 2, minutes: 5 })
})
