/** Every instant of a request may be an RFC 1123 date. A new parameter fails here until it may. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { DAY_MS } from '../../src/base/clock.ts'
import { trustDomain } from '../core.ts'
import { listRoutes } from './listed-routes.ts'
import { useService } from './service.ts'

const started = useService({}, ({ service, mine }) =>
  trustDomain(service.core, mine.id, 'example.test'),
)

const written = (at: number) => new Date(at).toUTCString()
const yesterday = () => written(Date.now() - DAY_MS)

type Schema = { properties?: Record<string, { format?: string; description?: string }> }

/** Parameters that are instants, by their declaration. */
function instantsOf(query: z.ZodType): string[] {
  const { properties = {} } = z.toJSONSchema(query, {
    io: 'input',
    unrepresentable: 'any',
  }) as Schema
  return Object.entries(properties)
    .filter(
      ([, { format, description = '' }]) => format === 'date-time' || /instant/.test(description),
    )
    .map(([name]) => name)
}

describe('an RFC 1123 date', () => {
  it('is an instant in every query', async () => {
    const asked: string[] = []
    for (const { method, path, query } of listRoutes(started.service.core)) {
      const names = query === undefined ? [] : instantsOf(query)
      if (names.length === 0) continue
      assert.equal(method, 'GET', path)
      assert.ok(!path.includes(':'), path)
      const kind = path === '/analytics/leaderboard' ? { kind: 'campaigns' } : {}
      for (const name of names) {
        const isStart = name === 'from' || name === 'startDate'
        const given = { [name]: isStart ? yesterday() : written(Date.now()) }
        const { status, text } = await started.call('get', path).query({ ...kind, ...given })
        assert.equal(status, 200, `${path} ${name}: ${text}`)
        const zoneless = new Date(isStart ? Date.now() - DAY_MS : Date.now())
          .toISOString()
          .slice(0, 16)
        const warned = await started.call('get', path).query({ ...kind, [name]: zoneless })
        const { warnings = undefined } = warned.body
        // An answer that is a list has no place for warnings.
        if (!Array.isArray(warned.body)) {
          assert.deepEqual(
            warnings?.map(({ field, message }: { field: string; message: string }) => [
              field,
              message,
            ]),
            [[name, `There is no time zone in it, so it was read as UTC: ${zoneless}:00.000Z`]],
            `${path} ${name}: ${warned.text}`,
          )
        }
        const wrong = { [name]: 'Mon, 29 Nov 2026 08:00:00 GMT' }
        const { body } = await started
          .call('get', path)
          .query({ ...kind, ...wrong })
          .expect(422)
        assert.deepEqual(
          [body.error.errors[0].field, body.error.errors[0].code],
          [name, 'invalid_date'],
        )
        asked.push(`${path} ${name}`)
      }
    }
    for (const one of ['/emails startDate', '/requests endDate', '/analytics/timeseries from']) {
      assert.ok(asked.includes(one), one)
    }
  })

  it('is an instant in every body', async () => {
    const mail = { name: 'x', subject: 'x', body: '<p>x</p>', from: 'a@example.test' }
    const { call } = started
    await call('post', '/contacts').send({ email: 'ada@people.test', subscribed: true }).expect(201)
    const { body } = await call('post', '/campaigns')
      .send({ ...mail, audienceType: 'ALL' })
      .expect(201)
    const tomorrow = written(Date.now() + DAY_MS)
    const { body: sent } = await call('post', `/campaigns/${body.data.id}/send`)
      .send({ scheduledFor: tomorrow })
      .expect(200)
    assert.equal(sent.data.scheduledFor, new Date(tomorrow).toISOString())
    const { body: endpoint } = await call('post', '/webhooks/endpoints')
      .send({ url: 'https://hooks.test/', events: ['*'] })
      .expect(201)
    const span = { since: yesterday(), until: written(Date.now()) }
    await call('post', `/webhooks/endpoints/${endpoint.id}/replay`).send(span).expect(202)
    const filter = { field: 'createdAt', operator: 'greaterThan', value: yesterday() }
    const condition = { logic: 'AND', groups: [{ filters: [filter] }] }
    const { body: found } = await call('post', '/contacts/query')
      .send({ filter: condition })
      .expect(200)
    assert.equal(found.total, 1)
  })
})

describe('a time without a time zone', () => {
  it('is named with the instant that was understood, in every body', async () => {
    const mail = { name: 'x', subject: 'x', body: '<p>x</p>', from: 'a@example.test' }
    const { call } = started
    await call('post', '/contacts').send({ email: 'bob@people.test' }).expect(201)
    const { body } = await call('post', '/campaigns')
      .send({ ...mail, audienceType: 'ALL' })
      .expect(201)
    const path = `/campaigns/${body.data.id}`
    const next = new Date(Date.now() + 30 * DAY_MS).toISOString()
    const named = ({ body }: { body: { warnings?: { field: string; message: string }[] } }) =>
      body.warnings?.map(({ field, message }) => [field, message.split('UTC: ')[1]])
    const send = (scheduledFor: string) => call('post', `${path}/send`).send({ scheduledFor })
    assert.deepEqual(named(await send(next.slice(0, 16)).expect(200)), [
      ['scheduledFor', `${next.slice(0, 16)}:00.000Z`],
    ])
    assert.deepEqual(named(await send(next.slice(0, 10)).expect(200)), [
      ['scheduledFor', `${next.slice(0, 10)}T00:00:00.000Z`],
    ])
    for (const zoned of [next, next.replace('Z', '+01:00'), written(Date.parse(next))]) {
      assert.equal(named(await send(zoned).expect(200)), undefined, zoned)
    }
    const moved = await call('put', path).send({ scheduledAt: ` ${next.slice(0, 19)} ` })
    assert.deepEqual(named(moved), [['scheduledAt', `${next.slice(0, 19)}.000Z`]])
    const { body: endpoint } = await call('post', '/webhooks/endpoints')
      .send({ url: 'https://hooks.test/', events: ['*'] })
      .expect(201)
    const since = new Date(Date.now() - DAY_MS).toISOString()
    const replayed = await call('post', `/webhooks/endpoints/${endpoint.id}/replay`).send({
      since: since.slice(0, 19),
    })
    assert.deepEqual(named(replayed), [['since', `${since.slice(0, 19)}.000Z`]], replayed.text)
    const days = await call('get', '/emails').query({ startDate: '2026-11-01' })
    assert.equal(days.body.warnings, undefined)
  })

  it('is named by the check of a segment', async () => {
    const filters = [
      { field: 'createdAt', operator: 'greaterThan', value: '2026-01-31T09:30' },
      { field: 'createdAt', operator: 'lessThan', value: '2027-01-31T09:30Z' },
      { field: 'createdAt', operator: 'notEquals', value: '2027-01-31' },
    ]
    const condition = { logic: 'AND', groups: [{ filters }] }
    const { body } = await started.call('post', '/segments').send({ name: 's', condition })
    const { body: found } = await started.call('post', `/segments/${body.id}/check`)
    assert.deepEqual(
      found.findings.map(({ code, message }: { code: string; message: string }) => [code, message]),
      [
        [
          'filter_without_zone',
          'The value of createdAt greaterThan has no time zone, so it means 2026-01-31T09:30:00.000Z, in UTC.',
        ],
      ],
    )
  })
})
