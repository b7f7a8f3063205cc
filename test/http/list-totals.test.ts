/**
 * Every list with cursors says on its first page how many items it has, and 0 on later ones, unless its pages
 * have numbers too. A new list has the records that the example of its POST makes; it fails here until it has some.
 */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { z } from 'zod'
import { createListTotals } from '../../src/features/ground/list-totals.ts'
import { newId } from '../../src/store/ids.ts'
import { uploads } from '../../src/store/schema/uploads.ts'
import { trustDomain } from '../core.ts'
import { addRequest } from '../features/ground/requests/add-request.ts'
import { addCampaign, giveToCampaign } from '../features/outreach/campaigns/add-campaign.ts'
import { addDelivery } from '../features/outreach/webhooks/add-delivery.ts'
import { listRoutes, nameOf } from './listed-routes.ts'
import { type StartedService, useService } from './service.ts'

const ROWS = 3
const from = 'a@example.test'
const ids = { campaign: '', endpoint: '' }
const started = useService({}, fill)

async function fill({ call, service, mine }: StartedService) {
  const { core } = service
  const projectId = mine.id
  await trustDomain(core, projectId, 'example.test')
  ids.campaign = await addCampaign(core, { projectId })
  const { body: endpoint } = await call('post', '/webhooks/endpoints')
    .send({ url: 'https://hooks.test/', events: ['order placed'] })
    .expect(201)
  ids.endpoint = endpoint.id
  for (let at = 0; at < ROWS; at += 1) {
    const email = `person${at}@people.test`
    await call('post', '/suppressions')
      .send({ email: `left${at}@people.test` })
      .expect(200)
    await call('post', '/v1/track').send({ email, event: 'signup' }).expect(200)
    await call('post', '/campaigns')
      .send({ name: `${at}`, subject: 'Hello', body: '<p>x</p>', from, audienceType: 'ALL' })
      .expect(201)
    const message = { to: email, subject: 'Hello', body: '<p>x</p>', from }
    const { body: sent } = await call('post', '/v1/send').send(message).expect(200)
    await giveToCampaign(core, sent.data.emails[0].email, { campaignId: ids.campaign })
    await addRequest(core, { projectId })
    await addDelivery(core, { projectId, endpointId: ids.endpoint })
    const image = { file: newId(), filename: 'a.png', contentType: 'image/png', sizeBytes: 1 }
    const name = `${'a'.repeat(31)}${at}.png`
    const upload = { ...image, projectId, name, width: 1, height: 1, createdAt: at }
    await core.store.write((tx) => tx.insert(uploads).values(upload))
  }
}

type Page = { total: number; cursor: string | null; hasMore: boolean }
type Ask = (query: Record<string, unknown>) => Promise<Page>

/** Lists whose pages have numbers too, and the total on every page. */
const NUMBERED = ['GET /campaigns', 'GET /workflows']

/** How the first rows of a list are asked for whose path is not enough, by its route. */
const ASKED: Readonly<Record<string, Ask>> = {
  'POST /contacts/query': async (query) => {
    const { body } = await started.call('post', '/contacts/query').send(query).expect(200)
    return body
  },
  'GET /campaigns/:id/recipients': (query) => get(`/campaigns/${ids.campaign}/recipients`)(query),
  'GET /webhooks/endpoints/:id/deliveries': (query) =>
    get(`/webhooks/endpoints/${ids.endpoint}/deliveries`)(query),
}

function askerOf(name: string): Ask {
  return ASKED[name] ?? get(name.replace('GET ', ''))
}

function get(path: string): Ask {
  return async (query) => (await started.call('get', path).query(query).expect(200)).body
}

/** Filters that choose other indexes, for some lists. */
const FILTERS: Readonly<Record<string, () => Promise<object[]>>> = {
  'GET /emails': async () => {
    const { data } = (await started.call('get', '/emails')).body
    return [
      { search: 'person' },
      { search: 'person1@people.test', source: 'CAMPAIGN' },
      { campaignId: ids.campaign },
      { campaignId: ids.campaign, status: 'PENDING' },
      { contactId: data[0].contactId },
      { status: 'FAILED,BOUNCED' },
      { status: 'PENDING,SENT', domain: 'people.test' },
      { startDate: '2020-01-01', endDate: '2020-01-02' },
    ]
  },
  'GET /events': async () => [{ eventName: 'signup' }, { eventName: 'email.failed' }],
  'GET /activity': async () => {
    const { data } = (await started.call('get', '/contacts')).body
    return [
      { types: 'event.triggered' },
      { types: 'event.triggered,email.failed,email.sent' },
      { contactId: data[0].id },
      { contactId: data[0].id, types: 'event.triggered' },
      { startDate: '2020-01-01', endDate: '2020-01-02' },
    ]
  },
  'GET /suppressions': async () => [{ search: 'left1' }, { reason: 'MANUAL' }],
  'GET /requests': async () => [{ status: '2xx' }, { path: '/other' }, { startDate: '2020-01-01' }],
  'GET /campaigns/:id/recipients': async () => [{ outcome: 'pending' }, { outcome: 'delivered' }],
  'GET /webhooks/endpoints/:id/deliveries': async () => [
    { status: 'PENDING' },
    { status: 'FAILED' },
  ],
}

const LIST_NAMES = ['data', 'events', 'items']

/** Makes records as the example of POST at this path does, if the list has none yet. */
async function fillFromExample(path: string): Promise<void> {
  const route = listRoutes(started.service.core).find((each) => nameOf(each) === `POST ${path}`)
  const example = route?.example?.()
  if (example?.request === undefined || (await get(path)({ limit: 1 })).total > 0) return
  for (let at = 0; at < ROWS; at += 1) {
    await started.call('post', path).send(Object(example.request)).expect(example.status)
  }
}

describe('a list with cursors', () => {
  let lists: string[]

  before(async () => {
    const hasCursor = (schema: z.ZodType | undefined) =>
      schema !== undefined && /"cursor":/.test(JSON.stringify(z.toJSONSchema(schema, OPTIONS)))
    const routes = listRoutes(started.service.core).filter(({ query, body, responses }) =>
      [query, body, ...Object.values(responses).map(({ schema }) => schema)].some(hasCursor),
    )
    lists = routes.map(nameOf)
    const own = routes.filter(({ method }) => method === 'GET')
    for (const { path } of own) await fillFromExample(path)
  })

  it('has its total on the first page, and 0 on later ones', async (t) => {
    assert.ok(lists.length > 10)
    for (const name of lists) {
      await t.test(name, async () => {
        const ask = askerOf(name)
        const whole = await ask({ limit: 100 })
        assert.deepEqual([whole.cursor, whole.hasMore], [null, false])
        assert.ok(whole.total >= ROWS, `${whole.total}: the list needs rows in fill()`)
        const first = await ask({ limit: 1 })
        assert.equal(first.total, whole.total)
        assert.equal(first.hasMore, true)
        const later = await ask({ limit: 1, cursor: first.cursor })
        assert.equal(later.total, NUMBERED.includes(name) ? whole.total : 0)
      })
    }
  })

  for (const [name, listFilters] of Object.entries(FILTERS)) {
    for (const stretch of [1, 2, 1_000]) {
      it(`counts what its filters leave, in stretches of ${stretch} rows: ${name}`, async () => {
        const { core } = started.service
        for (const filter of [{}, ...(await listFilters())]) {
          core.listTotals = createListTotals({ now: core.now, stretch })
          const page = await askerOf(name)({ ...filter, limit: 100 })
          const list = LIST_NAMES.map((each) => Object(page)[each]).find(Array.isArray)
          assert.equal(page.cursor, null)
          const counted = await askerOf(name)({ ...filter, limit: 1 })
          assert.equal(counted.total, list?.length, JSON.stringify(filter))
        }
      })
    }
  }
})

const OPTIONS = { io: 'input', unrepresentable: 'any' } as const
