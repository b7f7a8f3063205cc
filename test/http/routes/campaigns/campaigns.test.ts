import assert from 'node:assert/strict'
import { beforeEach, describe, it, test } from 'node:test'
import { createTemplate } from '../../../../src/features/mail/templates/create.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { parseAddress } from '../../../../src/formats/address/address.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { campaigns } from '../../../../src/store/schema/campaigns.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { templates } from '../../../../src/store/schema/messages.ts'
import type { CampaignStatus } from '../../../../src/store/schema/words.ts'
import { type TestProject, trustDomain } from '../../../core.ts'
import { addCampaign } from '../../../features/outreach/campaigns/sending/campaign.ts'
import { useService } from '../../service.ts'

const { service, mine, other, call } = useService({}, async ({ service, mine, other }) => {
  await trustDomain(service.core, mine.id, 'shop.test')
  await trustDomain(service.core, other.id, 'other.test')
})

beforeEach(() => service.core.store.write(async (tx) => void (await tx.delete(campaigns))))

const text = { subject: 'Hi {{name}}', body: '<p>Hi</p>', from: 'a@shop.test' }
const valid = { ...text, name: 'Spring', audienceType: 'ALL' }
const isPro = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
}

const filtered = (condition: object) => ({
  ...{ audienceType: 'FILTERED', audienceFilter: condition },
})
const ofSegment = (segmentId: string) => ({ audienceType: 'SEGMENT', segmentId })

const create = (change: object = {}, by: TestProject = mine) =>
  call('post', '/campaigns', by).send({ ...valid, ...change })

async function created(change: object = {}) {
  const { status, body, text } = await create(change)
  assert.equal(status, 201, text)
  return body.data
}

const put = (id: string, change: object, ifMatch?: string) => {
  const request = call('put', `/campaigns/${id}`)
  if (ifMatch !== undefined) request.set('If-Match', ifMatch)
  return request.send(change)
}

const inStatus = (status: CampaignStatus, fields: object = {}) =>
  addCampaign(service.core, mine.id, { status, ...fields })

const makeSegment = async (projectId = mine.id) =>
  (await createSegment(service.core, { projectId, name: newId(), type: 'STATIC' })).id

async function makeTemplate(change: { subject?: string; body?: string } = {}): Promise<string> {
  const from = parseAddress('shop@shop.test')
  assert.ok(from)
  const fields = { name: 'T', subject: 'Copied', body: '<p>Copied</p>', from, fromName: 'Shop' }
  const template = { ...fields, ...change, projectId: mine.id, type: 'HEADLESS' } as const
  return (await createTemplate(service.core, template)).id
}

const addFan = (projectId: string) =>
  service.core.store.write(async (tx) => {
    const person = { id: newId(), projectId, address: `${newId()}@people.test`, subscribed: true }
    await tx.insert(contacts).values({ ...person, createdAt: 1, updatedAt: 1 })
  })

const countCampaigns = () => service.core.store.read.$count(campaigns)

test('a campaign is created, read, changed, copied and deleted', async () => {
  const answer = await create({ from: 'A@Shop.test', description: 'All' })
  assert.equal(answer.status, 201)
  const { id, createdAt, updatedAt, ...fields } = answer.body.data
  const given = { ...valid, from: 'a@shop.test', description: 'All', type: 'MARKETING' }
  for (const [name, value] of Object.entries(given)) assert.equal(fields[name], value, name)
  assert.deepEqual([fields.status, fields.audienceType, fields.version], ['DRAFT', 'ALL', 1])
  assert.equal(createdAt, updatedAt)

  const read = await call('get', `/campaigns/${id}`)
  const shown = { ...answer.body, data: { ...answer.body.data, limitedUntil: null } }
  assert.deepEqual([read.status, read.body, read.headers.etag], [200, shown, '"1"'])

  const changed = await put(id, { type: 'HEADLESS', description: null, maxPerHour: 500 })
  assert.deepEqual([changed.status, changed.headers.etag], [200, '"2"'])
  const { type, description, maxPerHour, subject } = changed.body.data
  assert.deepEqual([type, description, maxPerHour, subject], ['HEADLESS', null, 500, valid.subject])

  const copy = await call('post', `/campaigns/${id}/duplicate`)
  assert.deepEqual([copy.status, copy.body.data.name], [201, 'Spring (Copy)'])
  assert.deepEqual([copy.body.data.version, copy.body.data.maxPerHour], [1, 500])

  const deleted = await call('delete', `/campaigns/${id}`)
  assert.deepEqual([deleted.status, deleted.body.success], [200, true])
  assert.equal((await call('get', `/campaigns/${id}`)).body.error.code, 'CAMPAIGN_NOT_FOUND')
})

describe('a campaign is refused, and nothing is stored, with', () => {
  const refused: [string, object, number, string, string[]][] = [
    [
      'nothing',
      {
        ...{ name: undefined, subject: undefined, body: undefined, from: undefined },
        audienceType: undefined,
      },
      422,
      'VALIDATION_ERROR',
      ['name invalid_type', 'audienceType invalid_type'],
    ],
    [
      'no audience',
      { audienceType: undefined },
      422,
      'VALIDATION_ERROR',
      ['audienceType invalid_type'],
    ],
    [
      'no content',
      { subject: undefined, body: undefined, from: undefined },
      422,
      'VALIDATION_ERROR',
      ['subject invalid_type', 'body invalid_type', 'from invalid_type'],
    ],
    ['an empty name', { name: '' }, 422, 'VALIDATION_ERROR', ['name too_small']],
    ['a long name', { name: 'x'.repeat(101) }, 422, 'VALIDATION_ERROR', ['name too_big']],
    ['a bad sender', { from: 'nobody' }, 422, 'VALIDATION_ERROR', ['from invalid_string']],
    ['a bad reply-to', { replyTo: 'x@y' }, 422, 'VALIDATION_ERROR', ['replyTo invalid_string']],
    [
      'a line break in the subject',
      { subject: 'a\r\nBcc: b@c.test' },
      422,
      'VALIDATION_ERROR',
      ['subject invalid_string'],
    ],
    [
      "a line break in the sender's name",
      { fromName: 'a\nb' },
      422,
      'VALIDATION_ERROR',
      ['fromName invalid_string'],
    ],
    ['an unknown type', { type: 'SPAM' }, 422, 'VALIDATION_ERROR', ['type invalid_enum_value']],
    [
      'an unknown audience',
      { audienceType: 'SOME' },
      422,
      'VALIDATION_ERROR',
      ['audienceType invalid_enum_value'],
    ],
    [
      'no segment',
      { audienceType: 'SEGMENT' },
      422,
      'VALIDATION_ERROR',
      ['segmentId invalid_type'],
    ],
    [
      'no condition',
      { audienceType: 'FILTERED' },
      422,
      'VALIDATION_ERROR',
      ['audienceCondition invalid_type'],
    ],
    [
      'a condition that is none',
      filtered({ ...isPro, logic: 'MAYBE' }),
      422,
      'VALIDATION_ERROR',
      ['audienceCondition.logic invalid_enum_value'],
    ],
    [
      'two values of one field',
      { ...filtered(isPro), audienceCondition: { ...isPro, logic: 'OR' } },
      422,
      'VALIDATION_ERROR',
      ['audienceFilter custom'],
    ],
    [
      'a segment without its type',
      { audienceType: undefined, segmentId: newId() },
      422,
      'VALIDATION_ERROR',
      ['audienceType invalid_type'],
    ],
    [
      'a segment and a condition',
      { ...filtered(isPro), segmentId: newId() },
      422,
      'VALIDATION_ERROR',
      ['segmentId custom'],
    ],
    ['an unknown segment', ofSegment(newId()), 404, 'RESOURCE_NOT_FOUND', []],
    ['an unknown template', { templateId: newId() }, 404, 'TEMPLATE_NOT_FOUND', []],
    ['a pace of nothing', { maxPerHour: 0 }, 422, 'VALIDATION_ERROR', ['maxPerHour too_small']],
    [
      'a pace too high',
      { maxPerHour: 10_000_001 },
      422,
      'VALIDATION_ERROR',
      ['maxPerHour too_big'],
    ],
    ['a foreign domain', { from: 'a@other.test' }, 403, 'FORBIDDEN', []],
    ['a syntax fault', { body: '{% if %}' }, 400, 'BAD_REQUEST', ['body template_syntax']],
    ['a time', { scheduledFor: '9999-12-31' }, 400, 'BAD_REQUEST', []],
  ]
  for (const [name, change, status, code, fields] of refused) {
    it(name, async () => {
      const answer = await create(change)
      assert.deepEqual([answer.status, answer.body.error?.code], [status, code], answer.text)
      const errors: { field: string; code: string }[] = answer.body.error.errors ?? []
      assert.deepEqual(
        errors.map((error) => `${error.field} ${error.code}`),
        fields,
      )
      assert.equal(await countCampaigns(), 0)
    })
  }

  it('a time, and the answer names the call that takes one', async () => {
    const { suggestion } = (await create({ scheduledFor: '9999-12-31' })).body.error
    assert.match(suggestion, /POST \/campaigns\/:id\/send with {"scheduledFor"/)
  })

  it('a segment of another project', async () => {
    const { status } = await create(ofSegment(await makeSegment(other.id)))
    assert.deepEqual([status, await countCampaigns()], [404, 0])
  })
})

describe('the audience', () => {
  it('is a segment or a condition', async () => {
    const segmentId = await makeSegment()
    const bySegment = await created(ofSegment(segmentId.toUpperCase()))
    assert.deepEqual([bySegment.audienceType, bySegment.segment?.id], ['SEGMENT', segmentId])
    const byCondition = await created(filtered(isPro))
    assert.equal(byCondition.audienceType, 'FILTERED')
    assert.deepEqual(byCondition.audienceCondition, isPro)
    assert.deepEqual(byCondition.audienceFilter, isPro)
  })

  it('is refused with a segment or a condition that its type does not use', async () => {
    const segmentId = await makeSegment()
    const { id } = await created()
    for (const [change, field] of [
      [{ segmentId }, 'segmentId'],
      [{ audienceFilter: isPro }, 'audienceCondition'],
      [{ audienceType: 'SEGMENT', segmentId, audienceFilter: isPro }, 'audienceCondition'],
      [{ audienceType: 'FILTERED', audienceFilter: isPro, segmentId }, 'segmentId'],
    ] as const) {
      const { status, body } = await put(id, change)
      assert.deepEqual([status, body.error.errors[0].field], [422, field])
    }
    const { data } = (await call('get', `/campaigns/${id}`)).body
    assert.deepEqual([data.audienceType, data.segmentId, data.version], ['ALL', null, 1])
  })

  it('stays when a change names no type, and the refusal says which type to name', async () => {
    const [segmentId, otherId] = [await makeSegment(), await makeSegment()]
    const { id } = await created(ofSegment(segmentId))
    const moved = await put(id, { segmentId: otherId })
    assert.deepEqual(
      [moved.body.data.audienceType, moved.body.data.segmentId],
      ['SEGMENT', otherId],
    )
    const { status, body } = await put(id, { audienceCondition: isPro })
    assert.equal(status, 422)
    const [{ field, message }] = body.error.errors
    assert.equal(field, 'audienceCondition')
    assert.match(message, /audienceType is SEGMENT; give audienceType FILTERED with it/)
    assert.equal((await put(id, { segmentId: null })).status, 422)
    assert.equal((await call('get', `/campaigns/${id}`)).body.data.segmentId, otherId)
  })

  it('of everybody stores null for a segment and a condition', async () => {
    const segmentId = await makeSegment()
    const given = { audienceType: 'ALL', segmentId, audienceFilter: isPro }
    const answer = await create(given)
    const { data } = answer.body
    assert.deepEqual([data.segmentId, data.audienceCondition], [null, null])
    const message = 'Ignored: with the audienceType ALL the campaign goes to every contact.'
    const warnings = ['segmentId', 'audienceCondition'].map((field) => ({
      ...{ field, message, suggestion: null },
    }))
    assert.deepEqual(answer.body.warnings, warnings)
    const counted = await call('post', '/campaigns/audience').send(given)
    assert.deepEqual([counted.status, counted.body.warnings], [200, warnings])
    assert.equal((await create({ segmentId: null })).body.warnings, undefined)
    const one = await created(ofSegment(segmentId))
    const { body } = await put(one.id, given)
    const { audienceType, audienceFilter } = body.data
    assert.deepEqual(body.warnings, warnings)
    assert.deepEqual([audienceType, body.data.segmentId, audienceFilter], ['ALL', null, null])
  })

  it('forgets the segment when it becomes everybody', async () => {
    const { id } = await created(ofSegment(await makeSegment()))
    const { body } = await put(id, { audienceType: 'ALL' })
    assert.deepEqual([body.data.audienceType, body.data.segmentId], ['ALL', null])
  })

  it('holds its segment until the campaign is sent', async () => {
    const segmentId = await makeSegment()
    const { id } = await created(ofSegment(segmentId))
    const refused = await call('delete', `/segments/${segmentId}`)
    assert.deepEqual([refused.status, refused.body.error.details.campaigns[0].id], [409, id])
    assert.match(refused.body.error.message, /audience of "Spring"/)
    const setStatus = (status: CampaignStatus) =>
      service.core.store.write((tx) => tx.update(campaigns).set({ status }))
    await setStatus('SENDING')
    assert.equal((await call('delete', `/segments/${segmentId}`)).status, 409)
    await setStatus('SENT')
    assert.equal((await call('delete', `/segments/${segmentId}`)).status, 204)
    assert.equal((await call('get', `/campaigns/${id}`)).body.data.segment, null)
  })
})

test('an audience is counted before and after its campaign is stored', async () => {
  const draft = await call('post', '/campaigns/audience').send({ ...filtered(isPro), name: 'x' })
  assert.deepEqual([draft.status, draft.body.matching, draft.body.sample], [200, 0, []])
  const { id } = await created(filtered(isPro))
  const stored = await call('get', `/campaigns/${id}/audience`)
  assert.deepEqual({ ...stored.body, asOf: 0 }, { ...draft.body, asOf: 0 })
  const wrong = [
    ...[{ audienceType: 'SEGMENT' }, ofSegment(newId()), filtered({ a: 1 })],
    ...[{ audienceFilter: isPro }, {}],
  ]
  const statuses = []
  for (const body of wrong) {
    statuses.push((await call('post', '/campaigns/audience').send(body)).status)
  }
  assert.deepEqual(statuses, [422, 404, 422, 422, 422])
})

test('the count of an audience warns of a campaign that has sent nothing', async () => {
  const { id: campaignId } = await created({ name: 'Never sent' })
  const notOpened = { field: 'email.opened', operator: 'notTriggered', campaignId }
  const audience = filtered({ logic: 'AND', groups: [{ filters: [notOpened] }] })
  const draft = await call('post', '/campaigns/audience').send(audience)
  const { id } = await created(audience)
  const stored = await call('get', `/campaigns/${id}/audience`)
  for (const { status, body } of [draft, stored]) {
    assert.deepEqual([status, body.warnings?.length], [200, 1])
    assert.equal(body.warnings[0].field, 'audienceCondition')
    assert.match(
      body.warnings[0].message,
      /^The campaign "Never sent" has not been sent, so nobody/,
    )
  }
})

describe('a template', () => {
  it('gives what the request does not', async () => {
    const templateId = await makeTemplate()
    const { name, audienceType } = valid
    const given = { name, audienceType, templateId, subject: 'Own' }
    const { body } = await call('post', '/campaigns').send(given)
    const { subject, body: html, from, fromName, type } = body.data
    assert.deepEqual(
      [subject, html, from, fromName, type],
      ['Own', '<p>Copied</p>', 'shop@shop.test', 'Shop', 'HEADLESS'],
    )
    const usage = await call('get', `/templates/${templateId}/usage`)
    assert.deepEqual(usage.body.campaigns, [{ id: body.data.id, name }])
  })

  it('may have placeholders that are faults only since it was saved', async () => {
    const templateId = await makeTemplate()
    const body = '<p>{{ .Name }}{% if a %}{% endif %}</p>'
    await service.core.store.write(async (tx) => {
      await tx.update(templates).set({ body }).where(eq(templates.id, templateId))
    })
    const { name, audienceType } = valid
    const made = await call('post', '/campaigns').send({ name, audienceType, templateId })
    assert.equal(made.status, 201, made.text)
    assert.equal(made.body.data.body, body)
    assert.equal((await create({ templateId, body })).status, 400)
  })

  it('may have blocks of Go from before they were faults; what a request brings is checked', async () => {
    const templateId = await makeTemplate()
    const body = '<p>{{ if name }}A{{ end }}</p>'
    await service.core.store.write(async (tx) => {
      await tx.update(templates).set({ body }).where(eq(templates.id, templateId))
    })
    const { name, audienceType } = valid
    const made = await call('post', '/campaigns').send({ name, audienceType, templateId })
    assert.equal(made.status, 201, made.text)
    const put = (change: object) => call('put', `/campaigns/${made.body.data.id}`).send(change)
    assert.equal((await put({ subject: 'Hi', body })).status, 200)
    assert.equal((await put({ body: `${body} ` })).status, 400)
    const warned = await put({ body: '<p>*|FNAME|*</p>' })
    assert.match(warned.body.warnings[0].message, /^\*\|FNAME\|\* is a placeholder of Mailchimp/)
  })

  it('is searched for placeholders of other services when its text is copied', async () => {
    const { name, audienceType } = valid
    const told = (answer: { body: { warnings?: { field: string; message: string }[] } }) =>
      answer.body.warnings?.map(({ field, message }) => `${field} ${message.split(' ')[0]}`)
    const templateId = await makeTemplate({ subject: 'Hi *|FNAME|*', body: '<p>{$name}</p>' })
    const made = await call('post', '/campaigns').send({ name, audienceType, templateId })
    assert.deepEqual(told(made), ['subject *|FNAME|*', 'body {$name}'])
    const path = `/campaigns/${made.body.data.id}`
    assert.deepEqual(told(await call('post', `${path}/duplicate`)), told(made))
    const put = (change: object) => call('put', path).send(change)
    assert.deepEqual(told(await put({ subject: 'Hi %recipient.name%' })), [
      'subject %recipient.name%',
    ])
    assert.equal(told(await put({ name: 'News' })), undefined)
    const own = { name, audienceType, templateId, subject: 'Hi' }
    assert.deepEqual(told(await call('post', '/campaigns').send(own)), ['body {$name}'])
  })

  it('can be deleted all the same', async () => {
    const templateId = await makeTemplate()
    const { id } = await created({ templateId })
    assert.equal((await call('delete', `/templates/${templateId}`)).status, 204)
    assert.equal((await call('get', `/campaigns/${id}`)).body.data.templateId, templateId)
  })
})

describe('a change', () => {
  it('copies nothing from a template, and names none that does not exist', async () => {
    const templateId = await makeTemplate()
    const { id } = await created()
    const ignored = await put(id, { templateId })
    const { status, body } = ignored
    assert.deepEqual([status, body.data.templateId, body.data.version], [200, null, 1])
    for (const [wrong, expected] of [
      [7, 422],
      ['x', 422],
      [newId(), 404],
    ] as const) {
      assert.equal((await put(id, { templateId: wrong, name: 'New' })).status, expected)
    }
    assert.equal((await put(id, { templateId: null })).status, 200)
    const running = await inStatus('SENDING')
    assert.equal((await put(running, { templateId })).status, 400)
    assert.equal((await call('get', `/campaigns/${id}`)).body.data.name, valid.name)
  })

  it('may repeat a stored text that is a fault by now', async () => {
    const old = { subject: 'Hi {{ .Name }}', body: '{{> header}}{{#if x}}' }
    const id = await addCampaign(service.core, mine.id, old)
    const record = (await call('get', `/campaigns/${id}`)).body.data
    assert.deepEqual([record.subject, record.body], [old.subject, old.body])
    const answer = await put(id, { ...record, name: 'New' })
    assert.deepEqual([answer.status, answer.body.data?.name], [200, 'New'], answer.text)
    const other = await put(id, { ...record, body: `${old.body}!` })
    assert.equal(other.body.error?.errors?.[0]?.field, 'body', other.text)
    assert.equal((await put(newId(), old)).status, 404)
  })

  it('to the version that the caller knows is made, to another one refused', async () => {
    const { id } = await created()
    assert.equal((await put(id, { name: 'Two' }, '"1"')).status, 200)
    const late = await put(id, { name: 'Three' }, 'W/"2", "1"')
    assert.deepEqual([late.status, late.body.error.code], [412, 'CONFLICT'])
    const { name, version } = late.body.error.details.current
    assert.deepEqual([name, version], ['Two', 2])
    assert.equal((await put(id, { name: 'Four' }, '*')).status, 200)
    assert.equal((await put(id, { name: 'Five' })).body.data.version, 4)
    const broken = await put(id, { name: 'Six' }, '4')
    assert.deepEqual([broken.status, broken.body.error.errors[0].field], [422, 'If-Match'])
  })

  it('that changes nothing makes no version', async () => {
    const data = await created(filtered(isPro))
    const same = await put(data.id, { name: valid.name, audienceCondition: isPro })
    assert.deepEqual(same.body.data, data)
    assert.equal((await put(data.id, data)).body.data.version, 1)
  })

  it('of many at once makes one version each', async () => {
    const { id } = await created()
    const names = Array.from({ length: 10 }, (_, index) => `Name ${index}`)
    const answers = await Promise.all(names.map((name) => put(id, { name }, '"1"')))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(412)])
  })

  it('of the audience is counted again, any other is not', async () => {
    const id = await inStatus('DRAFT', { totalRecipients: 7 })
    assert.equal((await put(id, { name: 'New' })).body.data.totalRecipients, 7)
    assert.equal((await put(id, filtered(isPro))).body.data.totalRecipients, 0)
  })

  it('of a campaign that is being sent may change its name and pace only', async () => {
    const id = await inStatus('SENDING')
    const allowed = { name: 'New', description: 'x', maxPerHour: 10 }
    assert.equal((await put(id, allowed)).status, 200)
    assert.equal((await put(id, { maxPerHour: null })).body.data.maxPerHour, null)
    const refused = await put(id, { name: 'Newer', subject: 'x' })
    assert.deepEqual([refused.status, refused.body.error.details.fields], [400, ['subject']])
    assert.equal((await call('get', `/campaigns/${id}`)).body.data.name, 'New')
  })

  it('of a campaign at its end is refused', async () => {
    for (const status of ['SENT', 'CANCELLED'] as const) {
      assert.equal((await put(await inStatus(status), { name: 'New' })).status, 400)
    }
  })

  it('moves the time of a scheduled campaign, and does not change its segment', async () => {
    const soon = Date.now() + 60_000
    const id = await inStatus('SCHEDULED', { scheduledFor: soon })
    const later = new Date(soon + 60_000).toISOString()
    const moved = await put(id, { scheduledAt: later, scheduledFor: later })
    assert.deepEqual([moved.status, moved.body.data.scheduledFor], [200, later])
    assert.equal((await put(id, ofSegment(await makeSegment()))).status, 400)
    const wrong = [
      { scheduledFor: null },
      { scheduledFor: '2020-01-01' },
      { scheduledFor: '+010000-01-01T00:00:00Z' },
      { scheduledFor: 'tomorrow' },
      { scheduledFor: later, scheduledAt: '2020-01-01' },
    ]
    const statuses = []
    for (const change of wrong) statuses.push((await put(id, change)).status)
    assert.deepEqual(statuses, [400, 400, 422, 422, 422])
  })
})

test('only a draft can be deleted', async () => {
  for (const status of ['SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const) {
    const { body, status: answered } = await call('delete', `/campaigns/${await inStatus(status)}`)
    assert.deepEqual([answered, body.error.code], [409, 'CONFLICT'])
    assert.match(body.error.suggestion, /archive/)
    const isRunning = status === 'SCHEDULED' || status === 'SENDING'
    assert.equal(/cancel/.test(body.error.suggestion), isRunning, status)
  }
})

test('a deletion and a sending at the same time have one winner', async () => {
  await addFan(mine.id)
  const ids = await Promise.all(Array.from({ length: 8 }, () => inStatus('DRAFT')))
  for (const id of ids) {
    const [sent, deleted] = await Promise.all([
      call('post', `/campaigns/${id}/send`),
      call('delete', `/campaigns/${id}`),
    ])
    const left = (await call('get', `/campaigns/${id}`)).status === 200
    assert.deepEqual([sent.status === 200, deleted.status === 409], [left, left])
  }
})

test('a misspelt or misplaced time is refused, and nothing is sent', async () => {
  await addFan(mine.id)
  const { id } = await created()
  const time = new Date(Date.now() + 60_000).toISOString()
  const send = (query: string, body?: object) => {
    const request = call('post', `/campaigns/${id}/send${query}`)
    return body === undefined ? request : request.send(body)
  }
  for (const [query, body, named] of [
    ['', { scheduledfor: time }, 'scheduledfor'],
    ['', { scheduledFor: time, sendAt: time }, 'sendAt'],
    [`?scheduledFor=${time}`, {}, 'scheduledFor'],
    [`?scheduledAt=${time}`, undefined, 'scheduledAt'],
  ] as const) {
    const { status, body: answer } = await send(query, body)
    const [{ field, code }] = answer.error.errors
    assert.deepEqual([status, field, code], [422, named, 'unrecognized'])
  }
  assert.equal((await call('get', `/campaigns/${id}`)).body.data.status, 'DRAFT')
  const { body } = await send('', { scheduledFor: time, scheduledAt: time })
  assert.equal(body.data.status, 'SCHEDULED')
})

describe('the list', () => {
  it('pages, searches, sorts and filters', async () => {
    for (const name of ['Alpha', 'beta', 'Gamma']) await created({ name })
    await inStatus('SENT', { name: 'Delta', subject: 'Über alles' })
    const names = async (query: string) => {
      const { body } = await call('get', `/campaigns?${query}`)
      return body.data.map(({ name }: { name: string }) => name)
    }
    assert.deepEqual(await names('sort=name&dir=asc'), ['Alpha', 'beta', 'Delta', 'Gamma'])
    assert.deepEqual(await names('sort=name&pageSize=2&page=2'), ['beta', 'Alpha'])
    assert.deepEqual(await names('status=SENT'), ['Delta'])
    assert.deepEqual(await names('search=LPH'), ['Alpha'])
    assert.deepEqual(await names(`search=${encodeURIComponent('über')}`), ['Delta'])
    assert.deepEqual(await names('search=a@shop&sort=name&dir=asc'), ['Alpha', 'beta', 'Gamma'])
    const { body } = await call('get', '/campaigns?pageSize=3')
    const { total, page, pageSize, totalPages } = body
    assert.deepEqual([total, page, pageSize, totalPages], [4, 1, 3, 2])
    assert.equal((await call('get', '/campaigns?status=GONE')).status, 422)
    assert.equal((await call('get', '/campaigns', other)).body.total, 0)
  })

  it('leaves out archived campaigns unless asked for them', async () => {
    const { id } = await created({ name: 'Old' })
    await created({ name: 'New' })
    const archived = await call('post', `/campaigns/${id}/archive`)
    assert.deepEqual([archived.status, archived.body.data.archived], [200, true])
    assert.equal((await call('post', `/campaigns/${id}/send`)).status, 400)
    const { body: open } = await call('get', '/campaigns')
    assert.deepEqual([open.total, open.data[0].name, open.archivedCount], [1, 'New', 1])
    const { body: old } = await call('get', '/campaigns?archived=true')
    assert.deepEqual([old.total, old.data[0].name], [1, 'Old'])
    await call('post', `/campaigns/${id}/unarchive`)
    assert.equal((await call('get', '/campaigns')).body.total, 2)
    for (const status of ['SCHEDULED', 'SENDING'] as const) {
      const running = await inStatus(status)
      assert.equal((await call('post', `/campaigns/${running}/archive`)).status, 400)
      assert.equal((await call('post', `/campaigns/${running}/unarchive`)).status, 400)
    }
  })
})

test('a bulk deletion deletes all of the drafts or none', async () => {
  const drafts = [await inStatus('DRAFT'), await inStatus('DRAFT')]
  const sent = await inStatus('SENT')
  const remove = (ids: string[]) =>
    call('post', '/campaigns/bulk-update').send({ ids, delete: true })
  const foreign = await addCampaign(service.core, other.id)
  assert.equal((await remove([...drafts, sent])).status, 409)
  assert.equal((await remove([...drafts, foreign])).status, 404)
  assert.equal((await remove([])).status, 422)
  assert.equal(await countCampaigns(), 4)
  assert.deepEqual((await call('post', '/campaigns/bulk-update').send({ ids: drafts })).body, {
    updated: 0,
  })
  assert.deepEqual((await remove([...drafts, ...drafts])).body, { deleted: 2 })
})

test('an id that is no UUID is refused', async () => {
  for (const [method, path] of [
    ['get', '/campaigns/abc'],
    ['put', '/campaigns/abc'],
    ['post', '/campaigns/abc/pause'],
  ] as const) {
    const { status, body } = await call(method, path).send({})
    assert.deepEqual([status, body.error.errors[0].field], [422, 'id'])
  }
})

describe('a request to send', () => {
  const ready = async () => {
    await call('post', '/contacts').send({ email: 'fan@dest.test' })
    return (await created()).id as string
  }
  const later = '2126-11-22T09:00:00.000Z'

  it('needs no body, with or without a Content-Type', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const id = await ready()
      const answer = await call('post', `/campaigns/${id}/send`).set(headers)
      assert.deepEqual([answer.status, answer.body.data?.status], [200, 'SENDING'], answer.text)
    }
    const wrong = await call('post', '/campaigns').set({ 'content-type': 'application/json' })
    assert.equal(wrong.status, 400)
  })

  it('takes both spellings of its time, but not two values', async () => {
    const id = await ready()
    const at = new Date(service.core.now() + 3_600_000).toISOString()
    const { body } = await call('post', `/campaigns/${id}/send`).send({ scheduledAt: at })
    assert.deepEqual([body.data.status, body.data.scheduledFor], ['SCHEDULED', at])
    const both = await call('post', `/campaigns/${id}/send`).send({
      scheduledAt: at,
      scheduledFor: at,
    })
    assert.equal(both.status, 200)
    const two = { scheduledAt: at, scheduledFor: later }
    assert.equal((await call('post', `/campaigns/${id}/send`).send(two)).status, 422)
  })
})

test('the sender of a campaign may be written with its name', async () => {
  const data = await created({ from: 'Shop <A@Shop.test>' })
  assert.deepEqual([data.from, data.fromName], ['a@shop.test', 'Shop'])
  const { body } = await put(data.id, { from: 'Us <b@shop.test>', fromName: 'Them' })
  assert.deepEqual([body.data.from, body.data.fromName], ['b@shop.test', 'Them'])
})
