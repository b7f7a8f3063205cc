/**
 * Every list with cursors says on its first page how many items it has, and 0 on later ones, unless its pages
 * have numbers too. A new list has the records that the example of POST at its path makes; it fails here until it
 * has some.
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
import { fillPath, makeByExample } from './example-records.ts'
import { findExample, listRoutes, nameOf } from './listed-routes.ts'
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
    await call('post', '/contacts/verify')
      .send({ emails: [email] })
      .expect(202)
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

/** Lists that have neither numbers nor filters here. */
const PLAIN = ['GET /contacts', 'GET /templates', 'GET /uploads', 'POST /contacts/query']

/** The records with rows of `fill`, by the path that makes them; the parameters of other paths get new records. */
const OWNERS: Readonly<Record<string, () => string>> = {
  '/campaigns': () => ids.campaign,
  '/webhooks/endpoints': () => ids.endpoint,
}

const urlOf = (path: string) => fillPath(started, path, (parent) => OWNERS[parent]?.())

/** The paths of lists, with their parameters filled. */
const urls = new Map<string, string>()

/** How a page of a list is asked for, by its route: a POST has the query in its body. */
function askerOf(name: string): Ask {
  const [method = '', path = ''] = name.split(' ')
  return async (query) => {
    const url = urls.get(path) ?? path
    if (method === 'POST') return (await started.call('post', url).send(query).expect(200)).body
    return (await started.call('get', url).query(query).expect(200)).body
  }
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
  const routes = listRoutes(started.service.core).map(nameOf)
  const hasExample =
    routes.includes(`POST ${path}`) &&
    findExample(started.service.core, `POST ${path}`)?.request !== undefined
  if (!hasExample || (await askerOf(`GET ${path}`)({ limit: 1 })).total > 0) return
  for (let at = 0; at < ROWS; at += 1) await makeByExample(started, path, urls.get(path))
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
    for (const { path } of routes) urls.set(path, await urlOf(path))
    for (const { path } of own) await fillFromExample(path)
  })

  it('is found by the shape of its requests and answers', () => {
    const known = [...NUMBERED, ...Object.keys(FILTERS), ...PLAIN]
    assert.deepEqual(
      known.filter((name) => !lists.includes(name)),
      [],
    )
  })

  it('has its total on the first page, and 0 on later ones', async (t) => {
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
