/** A campaign of the type TRANSACTIONAL reaches people who left: every answer on the way says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldWarning } from '../../../../src/base/errors.ts'
import { createTemplate } from '../../../../src/features/mail/templates/templates.ts'
import { parseAddress } from '../../../../src/formats/address/address.ts'
import { warnOfUnsubscribed } from '../../../../src/http/routes/campaigns/transactional.ts'
import { newId } from '../../../../src/store/ids.ts'
import type { ContentClass } from '../../../../src/store/schema/words.ts'
import { trustDomain } from '../../../core.ts'
import {
  addCampaign,
  addContacts,
  breakCounts,
} from '../../../features/outreach/campaigns/sending/campaign.ts'
import { useService } from '../../service.ts'

const { service, mine, call } = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'shop.test')
  await addContacts(service.core, mine.id, [
    { address: 'ada@dest.test', data: { plan: 'pro' } },
    { address: 'bob@dest.test', subscribed: false },
    { address: 'eve@dest.test', subscribed: false },
  ])
})

const content = { subject: 'Hi', body: '<p>Hi</p>', from: 'a@shop.test' }
const valid = { ...content, name: 'Terms', audienceType: 'ALL' }

const text =
  'Unsubscribed contacts get the campaign too, without the footer and its link to unsubscribe'
const suggestion = 'With "type": "MARKETING" the campaign leaves them out.'
const warning = { field: 'type', message: `The type is TRANSACTIONAL. ${text}.`, suggestion }

async function makeTemplate(type: ContentClass): Promise<string> {
  const from = parseAddress('shop@shop.test')
  assert.ok(from)
  const { subject, body } = content
  const fields = { projectId: mine.id, name: 'Receipt', subject, body, from, type }
  return (await createTemplate(service.core, fields)).id
}

async function create(change: object) {
  const { status, body, text } = await call('post', '/campaigns').send({ ...valid, ...change })
  assert.equal(status, 201, text)
  return body
}

const isFan = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
}
const fans = { audienceType: 'FILTERED', audienceCondition: isFan }

test('a type copied from a template is named, and how to choose another', async () => {
  const templateId = await makeTemplate('TRANSACTIONAL')
  const made = await create({ templateId })
  assert.equal(made.data.type, 'TRANSACTIONAL')
  const message = `The type TRANSACTIONAL was copied from the template. ${text}.`
  assert.deepEqual(made.warnings, [{ field: 'type', message, suggestion }])
  const chosen = await create({ templateId, type: 'MARKETING' })
  assert.deepEqual([chosen.data.type, chosen.warnings], ['MARKETING', undefined])
  assert.deepEqual((await create({ templateId, type: 'TRANSACTIONAL' })).warnings, [warning])
})

test('a type that the request gives has one warning, and other types have none', async () => {
  assert.deepEqual((await create({ type: 'TRANSACTIONAL' })).warnings, [warning])
  for (const type of ['MARKETING', 'HEADLESS', undefined] as const) {
    assert.equal((await create({ type })).warnings, undefined, type)
  }
  assert.equal((await create({ templateId: await makeTemplate('HEADLESS') })).warnings, undefined)
})

test('a change and a copy of such a campaign have the warning, too', async () => {
  const { data } = await create({})
  const put = (id: string, change: object) => call('put', `/campaigns/${id}`).send(change)
  const duplicate = (id: string) => call('post', `/campaigns/${id}/duplicate`)
  assert.equal((await duplicate(data.id)).body.warnings, undefined)
  assert.deepEqual((await put(data.id, { type: 'TRANSACTIONAL' })).body.warnings, [warning])
  assert.deepEqual((await put(data.id, { subject: 'Hello' })).body.warnings, [warning])
  assert.deepEqual((await duplicate(data.id)).body.warnings, [warning])
  assert.equal((await put(data.id, { type: 'MARKETING' })).body.warnings, undefined)
})

test('a campaign that is being sent cannot change its type, and has no warning of it', async () => {
  const id = await addCampaign(service.core, mine.id, { status: 'SENDING', type: 'TRANSACTIONAL' })
  const { status, body } = await call('put', `/campaigns/${id}`).send({ maxPerHour: 10 })
  assert.deepEqual([status, body.warnings], [200, undefined])
})

test('the audience has the number of unsubscribed recipients', async () => {
  const numbers = async (change: object) => {
    const { data } = await create(change)
    const { body } = await call('get', `/campaigns/${data.id}/audience`)
    const { matching, unsubscribed, willReceive, unsubscribedRecipients } = body
    const draft = await call('post', '/campaigns/audience').send({ ...valid, ...change })
    assert.equal(draft.body.unsubscribedRecipients, unsubscribedRecipients)
    return [matching, unsubscribed, willReceive, unsubscribedRecipients]
  }
  assert.deepEqual(await numbers({ type: 'TRANSACTIONAL' }), [3, 0, 3, 2])
  assert.deepEqual(await numbers({ ...fans, type: 'TRANSACTIONAL' }), [1, 0, 1, 0])
  assert.deepEqual(await numbers({ type: 'MARKETING' }), [3, 2, 1, 0])
})

test('the count of a draft takes the type of its template, as the campaign would', async () => {
  const count = async (change: object) => {
    const { status, body } = await call('post', '/campaigns/audience').send({ ...valid, ...change })
    assert.equal(status, 200)
    return [body.unsubscribed, body.willReceive, body.unsubscribedRecipients]
  }
  const templateId = await makeTemplate('TRANSACTIONAL')
  assert.deepEqual(await count({ templateId }), [0, 3, 2])
  assert.deepEqual(await count({ templateId, type: 'MARKETING' }), [2, 1, 0])
  assert.deepEqual(await count({ templateId: await makeTemplate('HEADLESS') }), [2, 1, 0])
  for (const unknown of [newId(), null]) {
    assert.deepEqual(await count({ templateId: unknown }), [2, 1, 0])
  }
})

test('a number that took too long to count is left out of the warning', () => {
  const warnings: FieldWarning[] = []
  const warn = (each: FieldWarning) => void warnings.push(each)
  const campaign = { type: 'TRANSACTIONAL', status: 'SCHEDULED' } as const
  warnOfUnsubscribed(campaign, { warn, unsubscribed: undefined })
  assert.deepEqual(warnings, [warning])
})

test('a sending says how many unsubscribed contacts get the campaign, if any do', async () => {
  const send = async (change: object, request: object = {}) => {
    const { data } = await create(change)
    const { status, body, text } = await call('post', `/campaigns/${data.id}/send`).send(request)
    assert.equal(status, 200, text)
    return body.warnings
  }
  const message = `The type is TRANSACTIONAL. ${text}: 2 of the recipients are unsubscribed.`
  const type = 'TRANSACTIONAL'
  const scheduledFor = new Date(service.core.now() + 3_600_000).toISOString()
  assert.deepEqual(await send({ type }, { scheduledFor }), [{ field: 'type', message, suggestion }])
  const stop =
    'POST /campaigns/:id/cancel stops it; a duplicate with "type": "MARKETING" leaves them out.'
  assert.deepEqual(await send({ type }), [{ field: 'type', message, suggestion: stop }])
  assert.equal(await send({ ...fans, type }), undefined)
  assert.equal(await send({}), undefined)
})

test('a sending whose count fails succeeds, and has the warning without a number', async (t) => {
  const { data } = await create({ type: 'TRANSACTIONAL' })
  breakCounts(t, service.core, async () => Promise.reject(new Error('broken')))
  const scheduledFor = new Date(service.core.now() + 3_600_000).toISOString()
  const { status, body } = await call('post', `/campaigns/${data.id}/send`).send({ scheduledFor })
  assert.deepEqual([status, body.data?.status, body.warnings], [200, 'SCHEDULED', [warning]])
})
